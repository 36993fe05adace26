"""Each word of a text as a kind of word (an hour's quarter, a unit, a currency, a month) and numbers as figures."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from langmem_plugin.references.text.tokens import normal, stem
from langmem_plugin.references.words import LANGUAGES, phrases, word_set
from langmem_plugin.references.words import time_and_money as words


class Word(NamedTuple):
    code: str
    text: str
    amount: float = 0
    unit: str = ""
    until: float = 0
    start: int = 0
    end: int = 0

    @property
    def digits(self) -> bool:
        return self.text[:1].isdigit()


_TOKEN = re.compile(
    r"""(?P<I>\d{4}([-/])\d\d?\2\d\d?)(?!\d)
      | (?P<S>\d\d?/\d\d?(?:/(?:\d{4}|\d\d))?(?![\d/]) | \d\d?\.\d\d?\.(?:\d{4}|\d\d)(?![\d.]))
      | (?P<c>\d\d?:\d\d(?::\d\d(?:\.\d+)?)?)(?!\d)
      | (?P<o>\d\d?)(?:st|nd|rd|th|[ºª])(?![^\W\d_])
      | (?P<n>\d+(?:[.,]\d+)*)
      | [ap]\.\s?m\b\.? | ½ | [msM][2²](?!\w)
      | [^\W\d_](?:[^\W\d_½]|[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7]|['’׳״"](?=[^\W\d_]))*['’׳]?
      | \S""",
    re.VERBOSE | re.IGNORECASE,
)
_PREFIX = {"ו": "&", "ל": "<", "ב": "@", "כ": "~", "ה": "", "ש": "", "מ": ""}
# Units that are also letters of other things are read right after digits only.
_ATTACHED = word_set("m|h|s|d|w|g|l|k|mi|ft|ml|br")
_BEFORE_DATES = frozenset("no@NMW<i")
_LONGEST = 15


def _text(match: re.Match[str]) -> str:
    low = "-" if match.group() == "־" else normal(match.group()) or "."
    return low.replace(" ", "").rstrip(".") if low[1:2] == "." and low[:1] in "ap" else low


def _lexicon() -> dict[str, list[tuple[tuple[str, ...], tuple[Word, ...]]]]:
    meanings: dict[tuple[str, ...], tuple[Word, ...]] = {}

    def add(form: str, *meant: Word) -> None:
        meanings.setdefault(tuple(_text(match) for match in _TOKEN.finditer(form)), meant)

    for form, (start, end) in words.DAYPARTS.items():
        day = (Word("R", form, words.RELATIVE_DAYS[form]),) if form in words.RELATIVE_DAYS else ()
        add(form, Word("D", form, start, until=end), *day)
    tables: list[tuple[str, Mapping[str, float]]] = [
        *((code, dict.fromkeys(phrases(cell), 1)) for code, cell in words.CODES.items()),
        *(("m", words.HALVES), ("k", words.MULTIPLIERS), ("n", words.NUMBERS), ("R", words.RELATIVE_DAYS)),
        *(("C", words.INSTANTS), ("u", words.MINUTES), ("W", words.WEEKDAYS)),
    ]
    for language in LANGUAGES:
        tables += [("W", language.weekdays), ("M", language.months)]
        for code, counting in (("n", language.cardinals), ("o", language.ordinals)):
            forms = (form for form in counting if not (form in words.NOT_NUMBERS or form[0].isdigit()))
            tables.append((code, {form: counting[form] for form in forms}))
    for form, minutes in words.PAIRS.items():
        add(form, Word("n", form, 2), Word("u", form, minutes))
    for form, amount in words.NOTES.items():
        add(form, Word("n", form, amount), Word("x", form))
    for code, table in tables:
        for form, number in table.items():
            add(form, Word(code, form, number))
    for form, currency in words.CURRENCIES.items():
        add(form, Word("x", form, unit=currency))
    for form, (factor, unit) in words.MEASURES.items():
        add(form, Word("U", form, factor, unit))
    first: dict[str, list[tuple[tuple[str, ...], tuple[Word, ...]]]] = {}
    for key in sorted(meanings, key=len, reverse=True):
        first.setdefault(key[0], []).append((key, meanings[key]))
    return first


_LEXICON = _lexicon()


def kinds_of_words(text: str) -> list[Word]:
    """Every word and mark, with its kind; numbers are still in pieces."""
    matches = list(_TOKEN.finditer(text))
    texts = [_text(match) for match in matches]
    found: list[Word] = []
    place = 0
    while place < len(matches):
        match = matches[place]
        if match.lastgroup:
            found.append(_figure(match, texts[place]))
            place += 1
            continue
        prefixes, length, meant = _meaning(texts, place)
        start, end = match.start(), matches[place + length - 1].end()
        attached = found and found[-1].code == "n" and found[-1].digits and start - found[-1].end < 2
        if texts[place] in _ATTACHED and not attached:
            meant = ()
        elif texts[place] in ("manana", "once") and found and found[-1].text in ("la", "las", "esta"):
            meant = (Word("D", "", 300, until=720),) if texts[place] == "manana" else (Word("n", "", 11),)
        elif texts[place] in words.TIMID and not _datelike(found, texts, place):
            meant = ()
        meant = (*prefixes, *(meant or (Word("w" if texts[place][0].isalpha() else ".", ""),)))
        phrase = " ".join(texts[place : place + length])
        found.extend(word._replace(text=phrase, start=start, end=end) for word in meant)
        place += length
    return found


def _meaning(texts: list[str], place: int) -> tuple[tuple[Word, ...], int, tuple[Word, ...]]:
    """The words written onto the word at a place, how many words the phrase there has, and what it means."""
    text = texts[place]
    for cut in range(4):
        prefixes = text[:cut]
        if cut and (cut >= len(text) or text[cut - 1] not in _PREFIX):
            break
        for form in (text[cut:], text[cut:].rstrip("'"), stem(text[cut:])):
            for key, meant in _LEXICON.get(form, ()):
                if tuple(texts[place + 1 : place + len(key)]) == key[1:]:
                    written_on = tuple(Word(code, "") for code in (_PREFIX[letter] for letter in prefixes) if code)
                    return written_on, len(key), meant
    return (), 1, ()


def _datelike(found: list[Word], texts: list[str], place: int) -> bool:
    """Whether a word that is seldom a date is one here: "may 5", "in may", "the sat 4th"; not "number 4 may"."""
    after = texts[place + 1] if place + 1 < len(texts) else ""
    before = found[-1] if found else Word("", "")
    if before.code in "no" and after[:1].isalpha():
        return len(texts) == 1
    return (
        len(texts) == 1
        or after[:1].isdigit()
        or (before.code in _BEFORE_DATES and (before.text != "the" or after in ("one", "ones")))
    )


def _figure(match: re.Match[str], text: str) -> Word:
    code, start, end = match.lastgroup or "", match.start(), match.end()
    amount = 0.0
    if code == "c":
        hour, minute = map(int, text.split(":")[:2])
        code, amount = "c" if hour < 25 and minute < 60 else ".", (hour * 60 + minute) % 1440
    elif code not in "IS":
        code, amount = ("w", 0.0) if len(text) > _LONGEST else (code, number(match.group(code)))
    return Word(code, text, amount, start=start, end=end)


def number(text: str) -> float:
    """A figure with separators in any manner: 1,250.00, 1.250,00, 12,5 and 1,250."""
    comma, point = text.rfind(","), text.rfind(".")
    if min(comma, point) >= 0:
        mark = max(comma, point)
        text = re.sub(r"[.,]", "", text[:mark]) + "." + text[mark + 1 :]
    elif text.count(",") == 1 and len(text) - comma != 4:
        text = text.replace(",", ".")
    elif text.count(".") > 1:
        text = text.replace(".", "")
    return float(text.replace(",", "") or 0)


def whole_numbers(pieces: list[Word], ones: bool) -> list[Word]:
    """Pieces of a number as one: "two hundred and five", 1.5 k; `ones`: "twenty one" is 21, not 20 and a pronoun."""
    found: list[Word] = []
    place = 0
    while place < len(pieces):
        piece, following = pieces[place], pieces[place + 1 : place + 3]
        half = piece.code == "f" and len(following) > 0
        if half and (scaled := following[following[0].code == "a" and len(following) > 1]).code == "k":
            found.append(piece._replace(code="n", amount=scaled.amount / 2, end=scaled.end))
            place += 2 + (following[0] is not scaled)
            continue
        starts = piece.code in "nk" or (piece.code in "1a" and bool(following) and following[0].code == "k")
        if not starts:
            found.append(piece)
            place += 1
            continue
        thousands = piece.code == "k" and piece.amount > 100
        total, current = (piece.amount, 0.0) if thousands else (0.0, piece.amount)
        place, spoken = place + 1, not piece.digits
        end, money = piece.end, piece.text == "grand"
        while place < len(pieces):
            linked = pieces[place].code == "&" and pieces[place].text != "&" and place + 1 < len(pieces)
            after = pieces[place + linked]
            if after.code == "k" and not linked and 0 < current < 1e9:
                current *= after.amount
                money = after.text == "grand"
                if after.amount > 100:
                    total, current = total + current, 0.0
            elif (
                spoken
                and ((after.code == "n" and not after.digits) or (after.code == "1" and (ones or after.text != "one")))
                and _joins(total, current, after.amount, pieces[place].text if linked else "")
            ):
                current += after.amount
                place += linked
            else:
                break
            end, place = after.end, place + 1
        found.append(
            piece._replace(code="n", amount=total + current, end=end, text=piece.text if end == piece.end else "")
        )
        if money:
            found.append(Word("x", "grand", start=piece.start, end=end))
    return found


def _joins(total: float, current: float, more: float, link: str) -> bool:
    if total and not current:
        return more < 1000
    if current >= 100 and current % 100 == 0:
        return more < 100
    return link != "and" and current >= 20 and current % 10 == 0 and more < 10 and current < 100
