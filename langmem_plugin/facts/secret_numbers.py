"""The numbers and codes in a text that are secret: of cards, of identity, of banks; keys, tokens and addresses."""

import ipaddress
import re
from typing import Final, Literal

from stdnum import iban, luhn
from stdnum.es import dni, nie
from stdnum.il import idnr
from stdnum.us import ssn

from langmem_plugin.languages.language_words import LANGUAGES, words

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
