"""Facts that need the person's own leave: secrets, health, faith, love, politics, crime and drugs, what they earn.

A fact that is taken for one of these wrongly is only asked about, so the table errs on that side.
"""

import ipaddress
import re
from collections.abc import Iterator
from typing import Any, Final, Literal

from stdnum import iban, luhn
from stdnum.es import dni, nie
from stdnum.il import idnr
from stdnum.us import ssn

from langmem_plugin.languages.language import LANGUAGES, words
from langmem_plugin.languages.plain_text import LONGEST_KEPT, plain
from langmem_plugin.lru import cached_if_short

_KEPT: Final = 4_096  # texts: one is asked about where it is read, allowed and stored
MASK: Final = "•••"
_PLACEHOLDERS = (MASK, "[REDACTED_", "_hash:", "****", "*.*.*.")  # the others are what LangChain's PIIMiddleware leaves
_NUMBERS: Final = frozenset({"card", "national id", "bank"})
_TOKEN = re.compile(r"langmem_[0-9a-f]{12}_[0-9a-f]+")
# The codes of people/link_codes.py. Mere digits, such as two years, are a code only after a command.
_CODE = re.compile(r"(/\w+\s+)?(?<![\w-])[0-9BCDFGHJKMNPQRSTVWXYZ]{4}-[0-9BCDFGHJKMNPQRSTVWXYZ]{4}(?![\w-])")
_OPEN_END = re.compile(r"(?:[:=]|\bis|\bes|הוא|היא)\s*$")
# The beginnings of lines that the product writes: "✅ Remembered: ", "2. ".
_MARKED = re.compile(r"\s{0,9}+(?:[^\w\s\"'“(]{1,4}+ [^:]{0,60}?: |\d{1,4}+\. |- )?")


def is_redacted(text: str) -> bool:
    """Tell whether a text has a placeholder, which is no value to remember."""
    return any(each in text for each in _PLACEHOLDERS)


def without_secrets(text: str) -> str:
    """Return the text with MASK for codes and tokens, and for the rest of each line that tells a password,
    a card and such.
    """
    masked = _CODE.sub(_masked_code, _TOKEN.sub(MASK, text))
    lines, goes_on = [], False
    for line in masked.split("\n"):
        if goes_on or _tells_a_secret(line):
            begin = _MARKED.match(line)
            lines.append(f"{begin[0] if begin and not goes_on else ''}{MASK}")
            goes_on = not line.strip() or _OPEN_END.search(line) is not None
        else:
            lines.append(line)
    return "\n".join(lines)


def _masked_code(found: re.Match[str]) -> str:
    command, code = found[1] or "", found[0].removeprefix(found[1] or "")
    return f"{command}{MASK}" if command or not code.replace("-", "").isdigit() else found[0]


def _tells_a_secret(line: str) -> bool:
    kinds = kinds_of(line)
    return "secret" in kinds or (not kinds.isdisjoint(_NUMBERS) and any(map(str.isdigit, line)))


NumberKind = Literal["card", "national id", "bank", "secret", "e-mail", "ip"]

_DIGITS = re.compile(r"(?<![\w+.-])\d(?:[ -]?\d){8,18}(?![\w-])")
_CARD_DIGITS: Final = range(13, 20)
_CARD_BEGINS: Final = ("2", "3", "4", "5", "6")
_ISRAELI_DIGITS: Final = 9
_SSN = re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])")
_SPANISH = re.compile(r"(?<![\w-])(?:[XYZxyz]-?\d{7}|\d{8})-?[A-Za-z](?!\w)")
_IBAN = re.compile(r"(?<!\w)[A-Za-z]{2}\d{2}(?: ?[A-Za-z0-9]){11,30}(?!\w)")
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}+@[\w-]{1,60}+(?:\.[\w-]{1,60}+)++")
_HOST = re.compile(r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f:]{3,39}+)(?![\w:])(?!\.\d)")
# Keys of known services begin with these, so that they are found inside a text.
_SECRET = re.compile(
    r"(?<![\w-])(?:sk-(?:proj-|ant-)?+[\w-]{16,}+|gh[pousr]_\w{20,}+|github_pat_\w{20,}+|glpat-[\w-]{16,}+"
    r"|(?:AKIA|ASIA)[A-Z0-9]{12,}+|AIza[\w-]{30,}+|ya29\.[\w-]{20,}+|xox[abeprs]-[\w-]{10,}+|hf_\w{20,}+|npm_\w{20,}+"
    r"|pypi-[\w-]{20,}+|(?:sk|rk|pk)_(?:live|test)_\w{10,}+|SG\.[\w-]{16,}+\.[\w-]{16,}+|eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]{4,}+)"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"
)
# A number beside one of these is of a parcel, a phone or a bill, whatever its check digit says.
_OF_OTHERS: Final = words("|".join(language.sensitive["of_others"] for language in LANGUAGES))


def kinds_of_numbers(text: str, said: frozenset[str]) -> set[NumberKind]:
    """Return the kinds of secret numbers in a text; `said` are its words, which may show that a number is
    somebody else's.
    """
    found: set[NumberKind] = set()
    of_others = not said.isdisjoint(_OF_OTHERS)
    for number in _DIGITS.finditer(text):
        digits = re.sub("[ -]", "", number[0])
        if len(digits) in _CARD_DIGITS and digits.startswith(_CARD_BEGINS) and luhn.is_valid(digits):
            found.add("card")
        if len(digits) == _ISRAELI_DIGITS and digits == number[0] and not of_others and idnr.is_valid(digits):
            found.add("national id")
    if not of_others and any(ssn.is_valid(each[0]) for each in _SSN.finditer(text)):
        found.add("national id")
    if any(dni.is_valid(each[0]) or nie.is_valid(each[0]) for each in _SPANISH.finditer(text)):
        found.add("national id")
    if any(_holds_iban(each[0]) for each in _IBAN.finditer(text)):
        found.add("bank")
    if _SECRET.search(text):
        found.add("secret")
    if _MAIL.search(text):
        found.add("e-mail")
    if not of_others and any(_is_address(each[0]) for each in _HOST.finditer(text)):
        found.add("ip")
    return found


def _holds_iban(text: str) -> bool:
    """Tell whether a text holds an IBAN; words may follow it, which read as more of it."""
    parts = text.split(" ")
    return any(iban.is_valid("".join(parts[:count])) for count in range(1, len(parts) + 1))


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return text.strip(":0") != ""


Kind = NumberKind | Literal["health", "faith", "love", "politics", "crime", "money"]
_GIVEN_TO_BE_USED: Final = frozenset({"e-mail", "ip"})


def _all(*path: str) -> frozenset[str]:
    """Return the words of one table of every language: people mix them."""
    found: set[str] = set()
    for language in LANGUAGES:
        cell: Any = language.sensitive
        for key in path:
            cell = cell.get(key, {})
        found |= words(cell or "")
    return frozenset(found)


def _by_kind(table: str) -> dict[Kind, frozenset[str]]:
    kinds = dict.fromkeys(kind for language in LANGUAGES for kind in language.sensitive.get(table, {}))
    return {kind: _all(table, kind) for kind in kinds}


_WORDS: Final = _by_kind("words")
_PHRASES: Final = _by_kind("phrases")
# They tell something only with a value beside them, and are mostly about something else.
_WITH_A_NUMBER: Final = _by_kind("with_a_number")
_OTHER_CODES: Final = _all("other_codes")
# How the names of diseases and medicines end or begin; and words that end so and are neither.
_BEGINNINGS: Final = tuple(_all("beginnings"))
_ENDINGS: Final = tuple(_all("endings"))
_NO_STEM: Final = _all("no_stem")
_LEAST_BEFORE: Final = 2  # letters
_WORD = re.compile(r"[^\W_]++(?:[\"'][^\W_]++)*+")
# No sensitive word is a church that is an address ("a church street café", "Church Road"), or a medicine ball.
_HARMLESS = re.compile("|".join(each.sensitive["harmless"] for each in LANGUAGES if "harmless" in each.sensitive))
_HE_PREFIX: Final = re.compile(r"[והבלמכש]{1,2}(?=[א-ת]{3})")
_SCLEROSIS = re.compile(r"\bMS\b")
_VALUE = re.compile(r"\d{3}")


def is_sensitive(text: str) -> bool:
    """Tell whether a person is asked before it is remembered. An e-mail or IP address alone is not asked about: it is
    told to be used.
    """
    return not kinds_of(text) <= _GIVEN_TO_BE_USED


@cached_if_short(_KEPT, LONGEST_KEPT)
def kinds_of(text: str) -> frozenset[Kind]:
    """Return the sensitive kinds of content in a text. Only whole words count: neither "turkey" nor
    "monkey" holds a key.
    """
    bare = _HARMLESS.sub(" ", plain(text))
    found = [each.removesuffix("'s") for each in _WORD.findall(bare)]
    return frozenset([*kinds_of_numbers(text, frozenset(found)), *_kinds_of_words(found, text)])


def _kinds_of_words(found: list[str], text: str) -> Iterator[Kind]:
    said = f" {' '.join(found)} "
    forms = {form for word in found for form in _forms(word)}
    for kind, known in _WORDS.items():
        if not forms.isdisjoint(known):
            yield kind
    for kind, phrases in _PHRASES.items():
        if any(f" {phrase} " in said for phrase in phrases):
            yield kind
    if any(map(_is_medical, found)) or _SCLEROSIS.search(text):
        yield "health"
    if _VALUE.search(text):
        for kind, known in _WITH_A_NUMBER.items():
            if not forms.isdisjoint(known) and forms.isdisjoint(_OTHER_CODES):
                yield kind


def _forms(word: str) -> Iterator[str]:
    """Give the word as written, and without what Hebrew writes as one with it: "the", "in", "to", "from"."""
    yield word
    prefix = _HE_PREFIX.match(word)
    if prefix is not None:
        yield from (word[cut:] for cut in range(1, prefix.end() + 1))


def _is_medical(word: str) -> bool:
    if word.startswith(_BEGINNINGS):
        return True
    return word not in _NO_STEM and word[_LEAST_BEFORE:].endswith(_ENDINGS)
