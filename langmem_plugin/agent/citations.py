"""The entries that a model was shown under numbers, and the citations of them in its reply.

A reply cites as it was told to, `[Memory: 2]`, or nearly so; people read `[2]` and the source below.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from langchain_core.documents import Document
from rapidfuzz import fuzz

from langmem_plugin.agent.replying.reply_texts import ENGLISH
from langmem_plugin.memory import Memory

_CITED = re.compile(
    r"\[\s*+(?:memor(?:y|ies)|documents?)\b(?:\s*+[:#]\s*+|\s*+(?=#?\d))([^\]\n]{0,500}+)\s*+\]", re.IGNORECASE
)
_RUN = rf"(?P<open>\()?{_CITED.pattern}(?:[ \t]*+{_CITED.pattern})*+(?(open)\))"
_CITED_IN_LINE = re.compile(rf"(?P<before>(?<![ \t])[ \t]++|)(?P<run>{_RUN})(?P<after>[ \t]*+)", re.IGNORECASE)
_NUMBERS = re.compile(r"#?\d+(?:\s*(?:,|;|&|and|-|–)\s*#?\d+)*", re.IGNORECASE)
_RANGE = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")
_SAME_TEXT = 85  # of 100: a reply that cites by words rarely repeats them exactly


@dataclass(frozen=True)
class Citation:
    """One numbered entry that a model was shown: either a memory or a document of the retriever."""

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
    """Return the name that a document gives its source; "" if it gives none."""
    noted = document.metadata
    name = next((str(noted[key]) for key in ("source", "title", "url") if noted.get(key)), document.id or "")
    return ENGLISH.source_on_page.format(source=name, page=noted["page"]) if name and "page" in noted else name


def cites(text: str) -> bool:
    """Tell whether the text cites anything at all."""
    return _CITED.search(text) is not None


def citations_in(text: str, shown: Sequence[Citation]) -> list[Citation]:
    """Return those of `shown` that the text cites, in the order in which it does, each once.

    `[Memory: 2]`, `[Memory 1, 3]`, `[Document: 4-6]` cite by number, `[Memory: owes me 5000]` by words. An entry that
    was not shown cannot be cited.
    """
    known = {each.number: each for each in shown}
    found = (each for cited in _CITED.finditer(text) for each in _meant(cited[1], known))
    return list({each.number: each for each in found}.values())


def with_sources(text: str, shown: Sequence[Citation]) -> str:
    """Return the text for people: `[2]` for a citation, nothing for one of what was not shown, the sources below."""

    def marked(cited: re.Match[str]) -> str:
        if marks := "".join(f"[{each.number}]" for each in citations_in(cited["run"], shown)):
            return f"{cited['before']}{marks}{cited['after']}"
        opens = text[cited.start() - 1 : cited.start()] in ("", "\n", "(")
        ends = text[cited.end() : cited.end() + 1] in ("", *".,;:!?\n")
        return cited["before"] if opens else "" if ends else cited["after"]

    below = [f"[{each.number}] {_line(each)}" for each in citations_in(text, shown)]
    body = _CITED_IN_LINE.sub(marked, text)
    return "\n".join([body, "", *below]) if below else body


def _meant(cited: str, known: Mapping[int, Citation]) -> Iterator[Citation]:
    cited = cited.strip()
    if _NUMBERS.fullmatch(cited):
        for first, last in _RANGE.findall(cited):
            # Only numbers that were shown count: a reply may say [Memory: 1-999999999].
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
