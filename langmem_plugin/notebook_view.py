"""The notebook view of our records: escaped, cut to a length, and in the colours of the reader's theme."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from itertools import islice
from pathlib import Path
from typing import Protocol

from langmem_plugin.text_sanitizing import visible

LONGEST, LONGEST_OF_MANY = 2_000, 500  # characters of a value, and of a value in a table of many
MOST = 200  # rows, or values in a list

# Where neither JupyterLab's nor VS Code's theme speaks, the system's light or dark does. The background is set along
# with the ink: a page that knows nothing of dark would else show light letters on white.
_STYLE = Path(__file__).with_name("notebook_view.css").read_text("utf-8")

Cell = str | int | float | datetime | Sequence[str] | None
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
    there = {name: value for name, value in cells.items() if _is_there(value)}
    rows = (f"<tr><th>{_text(name)}</th>{_cell(name, value, LONGEST)}</tr>" for name, value in there.items())
    return _framed(title, f'<table class="one"><tbody>{"".join(rows)}</tbody></table>')


def table(records: Sequence[Cells], title: str = "", *, of: int | None = None) -> str:
    """Return records of one kind as HTML, a line each; `of` is the number of all, where these are the first of them."""
    names = dict.fromkeys(name for each in records for name, value in each.items() if _is_there(value))
    head = "".join(f"<th>{_text(name)}</th>" for name in names)
    rows = "".join(
        f"<tr>{''.join(_cell(name, each.get(name), LONGEST_OF_MANY) for name in names)}</tr>" for each in records
    )
    left_out = 0 if of is None else of - len(records)
    more = "nothing" if not records else f"and {left_out:,} more" if left_out else ""
    body = f'<table class="each"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return _framed(title, body + (f'<div class="head">{more}</div>' if more else ""))


def _framed(title: str, inner: str) -> str:
    head = f'<div class="head">{_text(title)}</div>' if title else ""
    return f'<div class="lm"><style>{_STYLE}</style>{head}{inner}</div>'


def _is_there(value: Cell) -> bool:
    return value is not None and (not isinstance(value, Sequence) or len(value) > 0)


def _cell(name: str, value: Cell, most: int) -> str:
    if not _is_there(value):
        return "<td></td>"
    lines = value if isinstance(value, Sequence) and not isinstance(value, str) else [in_words(value)]
    shown = [f'<div dir="auto">{_text(line, most)}</div>' for line in islice(lines, MOST)]
    more = f"and {len(lines) - MOST:,} more" if len(lines) > MOST else ""
    return f'<td data-name="{_text(name)}">{"".join(shown)}{more}</td>'


def in_words(value: Cell) -> str:
    match value:
        case datetime():
            return f"{value:%Y-%m-%d %H:%M}"
        case float():
            return f"{value:.2f}"
    return "; ".join(value) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


def _text(text: str, most: int = LONGEST) -> str:
    """Return the text escaped for HTML, without characters that turn its direction, and cut to a length."""
    left_out = len(text) - most
    shown = escape(visible(text[:most]))
    return f"{shown}… ({left_out:,} letters more)" if left_out > 0 else shown
