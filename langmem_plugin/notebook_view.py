"""The notebook view of our records: escaped, cut to a length, and in the colours of the reader's theme."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from itertools import islice
from pathlib import Path
from typing import Literal, Protocol

from langmem_plugin.foreign_text import visible

LONGEST, LONGEST_OF_MANY = 2_000, 500  # characters of a value, and of a value in a table of many
MOST = 200  # rows, or values in a list
_LETTERS = 8  # characters of an id
_SHORT = 14  # characters that stay on one line

# Where neither JupyterLab's nor VS Code's theme speaks, the system's light or dark does. The background is set along
# with the ink: a page that knows nothing of dark would else show light letters on white.
_STYLE = Path(__file__).with_name("notebook_view.css").read_text("utf-8")


Tone = Literal["mark", "good", "warn", "dim"]


@dataclass(frozen=True, slots=True)
class Share:
    """A number in [0, 1], shown with a bar."""

    value: float


@dataclass(frozen=True, slots=True)
class Name:
    """An id of which the beginning is shown; pointing at it shows all of it."""

    value: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A state in one word; `tone` is good, warn or dim."""

    value: str
    tone: Tone = "mark"


Cell = str | int | float | datetime | Share | Name | Mark | Sequence[str] | None
Cells = Mapping[str, Cell]


class Viewed(Protocol):
    """An object that says itself what a notebook shows of it."""

    def cells(self) -> Cells: ...


@dataclass(frozen=True)
class Listed:
    """Records of one kind as one table, such as `Listed(memory.service.search(phone, "dinner"))` as a cell's
    last line.
    """

    records: Sequence[Viewed]
    title: str = ""

    def _repr_html_(self) -> str:
        return table([each.cells() for each in islice(self.records, MOST)], self.title, of=len(self.records))


def card(title: str, cells: Cells) -> str:
    """Return one record as HTML, with a line for each value; absent values are left out."""
    rows = "".join(
        f"<tr><th>{_text(name)}</th><td>{_cell(value, LONGEST)}</td></tr>"
        for name, value in cells.items()
        if _is_there(value)
    )
    return _framed(title, f'<table class="one"><tbody>{rows}</tbody></table>')


def table(records: Sequence[Cells], title: str = "", *, of: int | None = None) -> str:
    """Return records of one kind as HTML, a line each; `of` is the number of all, where these are the first of them."""
    there = len(records) if of is None else of
    if not records:
        return _framed(title, '<table class="each"><tbody><tr><td class="dim">nothing</td></tr></tbody></table>')
    every = dict.fromkeys(name for each in records for name in each)
    names = [name for name in every if any(_is_there(each.get(name)) for each in records)]
    head = "".join(f"<th>{_text(name)}</th>" for name in names)
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td data-name="{_text(name)}">{_cell(each[name], LONGEST_OF_MANY)}</td>'
            if _is_there(each.get(name))
            else "<td></td>"
            for name in names
        )
        + "</tr>"
        for each in records
    )
    more = f'<div class="head dim">and {there - len(records):,} more</div>' if there > len(records) else ""
    return _framed(title, f'<table class="each"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}')


def _framed(title: str, inner: str) -> str:
    head = f'<div class="head">{_text(title)}</div>' if title else ""
    return f'<div class="lm"><style>{_STYLE}</style>{head}{inner}</div>'


def _is_there(value: Cell) -> bool:
    return value is not None and (not isinstance(value, Sequence) or len(value) > 0)


def _cell(value: Cell, most: int) -> str:
    match value:
        case Share(number):
            wide = f"{100 * min(max(number, 0.0), 1.0):.0f}%"
            bar = f"background:linear-gradient(to right,var(--bar) {wide},transparent {wide})"
            html = f'<span class="share" style="{bar}">{number:.2f}</span>'
        case Name(name):
            html = f'<span class="id" title="{_text(name)}">{_text(name[:_LETTERS])}</span>'
        case Mark(word, tone):
            html = f'<span class="{tone}">{_worded(word, most)}</span>'
        case datetime():
            html = f'<span class="when">{value:%Y-%m-%d %H:%M}</span>'
        case float():
            html = f"{value:.2f}"
        case str():
            html = _worded(value, most)
        case Sequence():
            more = f"and {len(value) - MOST:,} more" if len(value) > MOST else ""
            html = "".join(_worded(each, most) for each in islice(value, MOST)) + more
        case _:
            html = _text(str(value))
    return html


def _worded(text: str, most: int) -> str:
    return f'<span class="{"short" if len(text) <= _SHORT else "text"}" dir="auto">{_text(text, most)}</span>'


def _text(text: str, most: int = LONGEST) -> str:
    """Return the text escaped for HTML, without characters that turn its direction, and cut to a length."""
    left_out = len(text) - most
    shown = escape(visible(text[:most]))
    return f"{shown}… ({left_out:,} letters more)" if left_out > 0 else shown
