"""Telephone numbers in every form in which people write and providers send them, read into one E.164 key."""

import re
import unicodedata

import phonenumbers
from phonenumbers import PhoneNumber, PhoneNumberFormat, ValidationResult

_PREFIX = re.compile(r"(?:tel|sms|rcs|signal):", re.IGNORECASE)
_NUMBER = re.compile(r"\+?[0-9 ().\-/]{5,40}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DIGITS_OF_A_NUMBER = range(5, 16)  # E.164 has at most 15
_OTHER_FORMS = (  # of mobile numbers: telephone networks and WhatsApp write different ones
    (re.compile(r"\+521([0-9]{10})"), r"+52\1"),  # Mexico
    (re.compile(r"\+55([1-9]{2})([6-9][0-9]{7})"), r"+55\g<1>9\2"),  # Brazil
    (re.compile(r"\+54([1-3][0-9]{9})"), r"+549\1"),  # Argentina
)
_ASCII_OF = str.maketrans("＋−（）．／：", "+-()./:")


def as_typed(text: str) -> str:
    """Return the text with the digits, dashes and spaces of a telephone keyboard, without invisible characters.

    A number copied from a contact has marks for the direction of writing around it.
    """
    if not text.isascii():
        text = "".join(map(_plain, text.translate(_ASCII_OF)))
    return text.strip(" \t\r\n")


def phone_number(text: str, region: str | None, *, bare: bool) -> str | None:
    """Return the E.164 key of a text `as_typed`, None if it is no number; `bare` allows a number without a plus.

    After `tel:`, `sms:`, `rcs:` and `signal:` the plus may always be missing.
    """
    if prefix := _PREFIX.match(text):
        text, bare = text[prefix.end() :].strip(" "), True
    digits = re.sub(r"\D", "", text)
    if not _NUMBER.fullmatch(text) or len(digits.removeprefix("00")) not in _DIGITS_OF_A_NUMBER:
        return None
    if text.startswith("+"):
        # In any country it is the same number with and without punctuation. No country code begins with 0.
        return _e164(text, None) or (None if digits.startswith("0") else one_form(f"+{digits}"))
    if not bare or _DATE.fullmatch(text):
        return None
    if digits.startswith("00"):
        return _e164(one_form(f"+{digits[2:]}"), None)
    return _bare(text, region) if text == digits else _e164(text, region)


def one_form(key: str) -> str:
    """Return the one E.164 form that is kept for a number that has two."""
    for other, this in _OTHER_FORMS:
        if found := other.fullmatch(key):
            return found.expand(this)
    return key


def is_national(text: str) -> bool:
    """Tell whether the text may be a number whose country nothing says."""
    typed = as_typed(text)
    return _NUMBER.fullmatch(typed) is not None and not _DATE.fullmatch(typed)


def _bare(digits: str, region: str | None) -> str | None:
    """Read digits alone: an international number without its plus, as WhatsApp's Cloud API sends it, or a national one.

    It is read as national where no other reading is possible. In a region whose numbers are written without a zero
    before them it is read so too where only the national number is of a known range: of ten digits in the US,
    `2025550123` is no number of Egypt, and `6568234567` is one of Singapore. What people write with spaces, dashes or
    that zero is national anyway.
    """
    national, international = _parsed(digits, region), _parsed(one_form(f"+{digits}"), None)
    if international is None or not _is_whole(international):
        return None if national is None else _key(national)
    has_zero = region is not None and phonenumbers.ndd_prefix_for_region(region, True) == "0"
    if national is not None and not has_zero and _is_known(national) and not _is_known(international):
        return _key(national)
    return _key(international)


def _e164(text: str, region: str | None) -> str | None:
    number = _parsed(text, region)
    return None if number is None else _key(number)


def _parsed(text: str, region: str | None) -> PhoneNumber | None:
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None
    # Possible is enough: ranges open faster than tables learn of them, and a test number is a key as well.
    return number if phonenumbers.is_possible_number(number) else None


def _is_whole(number: PhoneNumber) -> bool:
    """Tell whether it can be called from abroad: nobody puts a country before a number that lacks its area."""
    return phonenumbers.is_possible_number_with_reason(number) == ValidationResult.IS_POSSIBLE


def _is_known(number: PhoneNumber) -> bool:
    return bool(phonenumbers.is_valid_number(number))


def _key(number: PhoneNumber) -> str:
    key = str(phonenumbers.format_number(number, PhoneNumberFormat.E164))
    again = _parsed(key, None)
    # Each parse removes one zero of "+44 (0) 0…".
    return one_form(key) if again is None or again == number else _key(again)


def _plain(character: str) -> str:
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    kind = unicodedata.category(character)
    return {"Cf": "", "Pd": "-", "Zs": " "}.get(kind, character)
