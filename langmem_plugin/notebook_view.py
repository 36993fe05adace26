"""How a notebook shows our records: escaped, capped, and in the colours of whoever looks at them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from itertools import islice
from typing import Literal, Protocol

from langmem_plugin.terminal import visible

LONGEST, LONGEST_OF_MANY = 2_000, 500  # letters of a value, and of one in a table of many
MOST = 200  # rows, or values in a list
_LETTERS = 8  # of an id
_SHORT = 14  # letters that stay on one line

# Where neither JupyterLab's nor VS Code's theme speaks, the system's light or dark does. The background is set along
# with the ink: a page that knows nothing of dark would else show light letters on white.
_LIGHT = (
    "--ink:#1f2328;--dim:#59636e;--line:#d1d9e0;--band:#f6f8fa;--mark:#0a58ca;--good:#1a7f37;--warn:#9a6700;"
    "--bar:#b6d4fe;--ground:"
)
_DARK = (
    "--ink:#e6edf3;--dim:#9198a1;--line:#3d444d;--band:#151b23;--mark:#79b8ff;--good:#56d364;--warn:#e3b341;"
    "--bar:#1f4f8f;--ground:"
)
_COLOURS = f"""
.lm{{{_LIGHT}#fff}}
@media (prefers-color-scheme:dark){{.lm{{{_DARK}#0d1117}}}}
[data-jp-theme-light=true] .lm{{{_LIGHT}var(--jp-layout-color0,#fff)}}
[data-jp-theme-light=false] .lm{{{_DARK}var(--jp-layout-color0,#0d1117)}}
.vscode-light .lm{{{_LIGHT}var(--vscode-editor-background,#fff)}}
.vscode-dark .lm{{{_DARK}var(--vscode-editor-background,#0d1117)}}
"""
_FORM = """
.lm{color:var(--ink);background:var(--ground);border:1px solid var(--line);border-radius:8px;overflow-x:auto;
font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;margin:4px 0;max-width:60rem;width:fit-content;
min-width:min(100%,18rem);box-sizing:border-box}
.lm .head{padding:6px 12px;font-weight:600;border-bottom:1px solid var(--line);background:var(--band)}
.lm.lm table{border-collapse:collapse;border:0;margin:0;width:100%;font-size:inherit;table-layout:auto;color:inherit}
.lm.lm tr{background:none!important;border:0}
.lm.lm th,.lm.lm td{text-align:start;vertical-align:top;padding:5px 12px;border:0;border-top:1px solid var(--line);
color:var(--ink);white-space:pre-wrap;overflow-wrap:anywhere;max-width:none}
.lm.lm tbody:first-child tr:first-child>*{border-top:0}
.lm.lm th{font-weight:400;color:var(--dim);white-space:nowrap;overflow-wrap:normal}
.lm.lm thead th{font-size:12px;background:var(--band);border-top:0}
.lm .mark{color:var(--mark)}.lm .good{color:var(--good)}.lm .warn{color:var(--warn)}.lm .dim{color:var(--dim)}
.lm .id{white-space:nowrap;font-family:ui-monospace,Menlo,Consolas,monospace;font-size:12px;color:var(--dim)}
.lm .when{white-space:nowrap;font-variant-numeric:tabular-nums;color:var(--dim)}
.lm .text{display:block;min-width:10rem}.lm .short{display:block;white-space:nowrap}
.lm .share{display:inline-block;min-width:5rem;padding:0 6px;border-radius:4px;border:1px solid var(--line);
white-space:nowrap;font-variant-numeric:tabular-nums}
@media (max-width:600px){
.lm.lm{width:auto}
.lm.lm .each thead{display:none}
.lm.lm .each tr,.lm.lm .each td{display:block}
.lm.lm .each td{border:0;padding:1px 12px}
.lm.lm .each tr{padding:5px 0}
.lm.lm .each tr+tr{border-top:1px solid var(--line)}
.lm.lm .each td:empty{display:none}
.lm.lm .each td[data-name]::before{content:attr(data-name) " ";color:var(--dim);font-size:12px}
.lm .each .text,.lm .each .short{display:inline}
}
"""


Tone = Literal["mark", "good", "warn", "dim"]


@dataclass(frozen=True, slots=True)
class Share:
    """A number in [0, 1], shown with a bar."""

    value: float


@dataclass(frozen=True, slots=True)
class Name:
    """An id: its beginning is shown, and all of it by pointing at it."""

    value: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A state in one word; `tone` is good, warn or dim."""

    value: str
    tone: Tone = "mark"


Cell = str | int | float | datetime | Share | Name | Mark | Sequence[str] | None
Cells = Mapping[str, Cell]


class Viewed(Protocol):
    """Whatever says of itself what a notebook shows of it."""

    def cells(self) -> Cells: ...


@dataclass(frozen=True)
class Listed:
    """Records of one kind as one table: `Listed(memory.service.search(phone, "dinner"))` as the last line of a cell."""

    records: Sequence[Viewed]
    title: str = ""

    def _repr_html_(self) -> str:
        return table([each.cells() for each in islice(self.records, MOST)], self.title, of=len(self.records))


def card(title: str, cells: Cells) -> str:
    """One record: a line for each of its values; what it does not have is left out."""
    rows = "".join(
        f"<tr><th>{_text(name)}</th><td>{_cell(value, LONGEST)}</td></tr>"
        for name, value in cells.items()
        if _is_there(value)
    )
    return _framed(title, f'<table class="one"><tbody>{rows}</tbody></table>')


def table(records: Sequence[Cells], title: str = "", *, of: int | None = None) -> str:
    """Records of one kind, a line each; `of` is how many there are, where these are the first of them."""
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
    return f'<div class="lm"><style>{_COLOURS}{_FORM}</style>{head}{inner}</div>'


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
    """The text and nothing else: no markup, nothing that turns the direction of writing, and not for ever."""
    left_out = len(text) - most
    shown = escape(visible(text[:most]))
    return f"{shown}… ({left_out:,} letters more)" if left_out > 0 else shown
