"""The citations: memories and documents under the numbers of the prompt's block, and those that a reply cites."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from langchain_core.documents import Document
from rapidfuzz import fuzz

from langmem_plugin.agent.replying.replies import ENGLISH
from langmem_plugin.memory import Memory

_CITED = re.compile(r"\[\s*+(?:memor(?:y|ies)|documents?)\b(?!\])\s*+[:#]?+\s*+([^\]\n]{0,500}+)\s*+\]", re.IGNORECASE)
_NUMBERS = re.compile(r"#?\d+(?:\s*(?:,|;|&|and|-|–)\s*#?\d+)*", re.IGNORECASE)
_RANGE = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")
_SAME_TEXT = 85  # of 100: a reply that cites by words rarely repeats them exactly


@dataclass(frozen=True)
class Citation:
    """One numbered entry of what a model was shown: either a memory or a document of the retriever."""

    number: int
    memory: Memory | None = None
    document: Document | None = None
    when: str = ""
    """The time at which the memory was said, as a model is told it."""

    @property
    def text(self) -> str:
        if self.memory is not None:
            return self.memory.text
        return self.document.page_content if self.document is not None else ""

    @property
    def source(self) -> str:
        """The source, for people; the memory's own fields and the document's metadata say more."""
        if self.memory is not None:
            source = self.memory.source_type.replace("_", " ")
            if self.memory.session_id:
                source = ENGLISH.source_of_session.format(source=source, session=self.memory.session_id)
            return f"{source}, {self.memory.created_at:%Y-%m-%d}"
        return source_of(self.document) if self.document is not None else ""


def source_of(document: Document) -> str:
    """The name that a document gives its source; "" if it gives none."""
    noted = document.metadata
    name = next((str(noted[key]) for key in ("source", "title", "url") if noted.get(key)), document.id or "")
    return ENGLISH.source_on_page.format(source=name, page=noted["page"]) if name and "page" in noted else name


def cites(text: str) -> bool:
    """Tells whether the text cites anything at all."""
    return _CITED.search(text) is not None


def citations_in(text: str, shown: Sequence[Citation]) -> list[Citation]:
    """Those of `shown` that the text cites, in the order it does, each once.

    `[Memory: 2]`, `[Memory 1, 3]`, `[Document: 4-6]` cite by number, `[Memory: owes me 5000]` by words. What was
    not shown cannot be cited.
    """
    known = {each.number: each for each in shown}
    found = (each for cited in _CITED.finditer(text) for each in _meant(cited[1], known))
    return list({each.number: each for each in found}.values())


def with_sources(text: str, shown: Sequence[Citation]) -> str:
    """The text for people: `[2]` where it cites, nothing where it cites what was not shown, the sources below."""
    known = {each.number: each for each in shown}

    def marked(cited: re.Match[str]) -> str:
        return "".join(f"[{each.number}]" for each in _meant(cited[1], known))

    below = [f"[{each.number}] {_line(each)}" for each in citations_in(text, shown)]
    body = _CITED.sub(marked, text)
    if body != text:  # what is taken out leaves no two spaces, and none before a full stop
        body = re.sub(r"(?<=\S)[ \t]+(?=[.,;:!?\n]|$)|(?<=\S[ \t])[ \t]+(?=\S)", "", body)
    return "\n".join([body, "", *below]) if below else body


def _meant(cited: str, known: Mapping[int, Citation]) -> Iterator[Citation]:
    cited = cited.strip()
    if _NUMBERS.fullmatch(cited):
        for first, last in _RANGE.findall(cited):
            # As far as anything was shown: a reply may say [Memory: 1-999999999].
            for number in range(int(first), min(int(last or first), max(known, default=0)) + 1):
                if number in known:
                    yield known[number]
        return
    near = [(fuzz.token_set_ratio(cited.casefold(), each.text.casefold()), each) for each in known.values()]
    score, best = max(near, key=lambda each: each[0], default=(0.0, None))
    if best is not None and score >= _SAME_TEXT:
        yield best


def _line(cited: Citation) -> str:
    if cited.memory is not None:
        return f"{cited.text} ({cited.source})"
    return cited.source or cited.text
