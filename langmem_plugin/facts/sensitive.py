"""Which facts are secrets: numbers of cards and accounts, passwords, ids."""

import re
from typing import Final

from langmem_plugin.facts.tokens import plain

_WORDS: Final = frozenset(
    "password passwords passcode passphrase pin secret token credential credentials cvv cvc iban ssn passport swift otp apikey "
    'contrasena clave pin dni cedula iban pasaporte cvv סיסמה סיסמא סיסמת הסיסמה סיסמאות ת"ז תז דרכון הדרכון כספומט'.split()
)
_PHRASES: Final = (
    "credit card",
    "card number",
    "api key",
    "private key",
    "security code",
    "social security",
    "id number",
    "alarm code",
    "door code",
    "gate code",
    "account number",
    "tarjeta de credito",
    "numero de tarjeta",
    "numero de cuenta",
    "codigo de la alarma",
    "תעודת זהות",
    "כרטיס אשראי",
    "מספר חשבון",
    "קוד סודי",
    "קוד כניסה",
    "קוד אזעקה",
)
_WORD = re.compile(r"[^\W_]++(?:[\"'][^\W_]++)*+")
_CARD = re.compile(r"(?<![\d-])\d{4}(?:[ -]?\d{4}){3}(?![\d-])|(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")


def is_sensitive(text: str) -> bool:
    """Whole words only: neither "turkey" nor "monkey" holds a key."""
    found = _WORD.findall(plain(text))
    said = f" {' '.join(found)} "
    return (
        not _WORDS.isdisjoint(found)
        or any(f" {phrase} " in said for phrase in _PHRASES)
        or _CARD.search(text) is not None
    )
