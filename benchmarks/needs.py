"""How much of what a good answer needs stands in the prompt, and in how many tokens.

    python -m benchmarks.needs --data FOLDER            # 120 facts a person, then 2,000 facts of one
    python -m benchmarks.needs --data FOLDER --quick    # without the 2,000, which take some minutes to embed

`block` is what the prompt's block holds of the needed facts, as a reply is given it. Beside it stand, with the same
embedder in the same run, LangGraph's InMemoryStore with its 5 and 20 nearest, BM25 with 20, and the plain sum of both
with 30. Each line of those costs what a line of the block does.

Then how `search` ranks without a bound, beside plain cosine and plain BM25: needed facts among the first 5, 10, 20, 40.
"""

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from langchain_core.embeddings import Embeddings
from langchain_core.messages import HumanMessage
from langgraph.store.memory import InMemoryStore

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.memory.embedding.embedder import model_of
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings
from langmem_plugin.memory.find.bm25 import WordIndex
from langmem_plugin.memory.find.tokenizer import terms

GET = """
The folder needs facts_needs_dev.jsonl, one {id, person, lang, text} a line, and needs_dev.jsonl, one {person, lang,
message, needs: [id of a fact], kind} a line: what a person wrote to an assistant, and which of the facts it must have
before it to answer well. Write your own: 120 facts and 50 messages of a person tell much. None is part of
this project."""
BLOCK = re.compile(r"<memories>.*?</memories>", re.DOTALL)
LINE = len("10.  (said 4 Mar 2026)\n")
FIRST = (5, 10, 20, 40)
MANY = 2_000
Ranking = Callable[[str], Sequence[int]]


class Shares:
    """Of the needed facts, by language: how many are there; and the tokens of what was given for a message."""

    def __init__(self) -> None:
        self.there: dict[tuple[str, str], list[bool]] = defaultdict(list)
        self.tokens: dict[tuple[str, str], list[float]] = defaultdict(list)

    def count(self, way: str, language: str, given: Sequence[str], needs: Sequence[str], tokens: float = 0) -> None:
        self.there[way, language] += [each in given for each in needs]
        self.tokens[way, language].append(tokens)

    def table(self, title: str, columns: Sequence[str], *, tokens: bool = True) -> None:
        languages = sorted({language for _, language in self.there})
        print(f"\n{title}\n{'':26}" + "".join(f"{each:>16}" for each in languages))
        for way in columns:
            cells = []
            for language in languages:
                share = 100 * float(np.mean(self.there[way, language]))
                cost = f" ({np.mean(self.tokens[way, language]):4.0f} t)" if tokens else ""
                cells.append(f"{share:5.1f}{cost}")
            print(f"{way:26}" + "".join(f"{each:>16}" for each in cells), flush=True)


def measured(model: Embeddings, facts: list[dict], messages: list[dict], *, many: bool) -> None:
    shares, ranks = Shares(), Shares()
    for person in sorted({each["person"] for each in facts}):
        own = [each for each in facts if each["person"] == person]
        held = own + (
            list(repeated([each for each in facts if each["person"] != person], MANY - len(own))) if many else []
        )
        asked = [each for each in messages if each["person"] == person and each["needs"]]
        one_person(model, held, asked, shares, ranks)
    name = f"{model_of(model)}, {MANY if many else len(own)} facts a person"
    shares.table(f"Needed facts given, {name}", ["block", "store, 5", "store, 20", "BM25, 20", "sum, 30"])
    ways = [f"{way}, first {most}" for most in FIRST for way in ("search", "cosine", "BM25")]
    ranks.table(f"Needed facts ranked, {name}", ways, tokens=False)


def one_person(model: Embeddings, facts: list[dict], messages: list[dict], shares: Shares, ranks: Shares) -> None:
    texts, ids = [each["text"] for each in facts], [each["id"] for each in facts]
    vectors = np.array(model.embed_documents(texts))
    by_words = WordIndex()
    for text in texts:
        by_words.add(terms(text))
    store = InMemoryStore(index={"embed": Known(model, texts, vectors), "dims": vectors.shape[1], "fields": ["text"]})
    for each in facts:
        store.put(("facts",), each["id"], {"text": each["text"]})
    settings = Settings(sweep_every=None, search_past_sessions=False, extraction="off")
    with PhoneMemory("sqlite://", settings=settings, embeddings=model) as memory:
        phone = "+972501234567"
        # As an application tells them, so that a fact which another one replaced by mistake is missed here too.
        memory.service.remember_many(phone, [(text, {}) for text in texts], embeddings=vectors.tolist())
        for each in messages:
            said, language, needs = each["message"], each["lang"], each["needs"]
            block = block_of(memory, phone, said)
            given = [name for name, text in zip(ids, texts, strict=True) if text in block]
            shares.count("block", language, given, needs, len(block) / 4)
            scores, _ = by_words.scores(terms(said))
            cosines = vectors @ np.array(model.embed_query(said))
            nearest = [item.key for item in store.search(("facts",), query=said, limit=20)]
            summed = ordered(ids, spread(cosines) + spread(scores))
            others = (("store, 5", nearest[:5]), ("store, 20", nearest), ("BM25, 20", ordered(ids, scores)[:20]))
            for way, chosen in (*others, ("sum, 30", summed[:30])):
                cost = sum((len(texts[ids.index(name)]) + LINE) / 4 for name in chosen)
                shares.count(way, language, chosen, needs, cost)
            found = memory.service.search(phone, said, limit=max(FIRST), min_relevance=0.0)
            searched = [ids[texts.index(hit.memory.text)] for hit in found]
            for most in FIRST:
                ranks.count(f"search, first {most}", language, searched[:most], needs)
                ranks.count(f"cosine, first {most}", language, ordered(ids, cosines)[:most], needs)
                ranks.count(f"BM25, first {most}", language, ordered(ids, scores)[:most], needs)


def block_of(memory: PhoneMemory, phone: str, said: str) -> str:
    """What the prompt says of the memory."""
    state = {"messages": [HumanMessage(said)]}
    prompt = memory.prompt({**state, "recalled": memory.recall(state, phone=phone)}, "", phone=phone)
    found = BLOCK.search("\n".join(str(message.content) for message in prompt))
    return found[0] if found else ""


class Known(Embeddings):
    """The model, with the vectors of texts that it has embedded already."""

    def __init__(self, model: Embeddings, texts: Sequence[str], vectors: np.ndarray) -> None:
        self._model = model
        self._known = dict(zip(texts, vectors.tolist(), strict=True))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self._known[each] for each in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._model.embed_query(text)


def repeated(facts: list[dict], count: int) -> Iterator[dict]:
    """So many facts; from the second time on they are about somebody else."""
    for number in range(count):
        fact, time = facts[number % len(facts)], number // len(facts)
        mark = f" ({time + 1})" if time else ""
        yield {**fact, "id": f"{fact['id']}{mark}", "text": f"{fact['text']}{mark}"}


def ordered(ids: Sequence[str], scores: np.ndarray) -> list[str]:
    return [ids[place] for place in np.argsort(-scores, kind="stable")]


def spread(scores: np.ndarray) -> np.ndarray:
    return (scores - scores.min()) / max(float(scores.max() - scores.min()), 1e-9)


def lines(path: Path) -> list[dict]:
    if not path.is_file():
        sys.exit(f"{path} is missing.{GET}")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with facts and messages")
    parser.add_argument("--quick", action="store_true", help="without the 2,000 facts")
    given = parser.parse_args()
    known, said = lines(given.data / "facts_needs_dev.jsonl"), lines(given.data / "needs_dev.jsonl")
    models: list[Embeddings] = [OfflineEmbeddings()]
    try:
        from langmem_plugin.memory.embedding.multilingual_embeddings import MultilingualEmbeddings
    except ImportError:
        print("the multilingual model is not measured: pip install 'phone-memory[multilingual]'")
    else:
        models.append(MultilingualEmbeddings())
    for each in models:
        measured(each, known, said, many=False)
        if not given.quick:
            measured(each, known, said, many=True)
