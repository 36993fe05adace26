"""The texts of the pages in each language: the English ones stand in the templates, each other one is a catalogue."""

from functools import lru_cache
from gettext import NullTranslations

from babel.messages.pofile import read_po

from langmem_plugin.errors import ConfigurationError
from langmem_plugin.people.person_settings import LanguageCode
from langmem_plugin.web.look import FOLDER


class Texts(NullTranslations):
    """A language has all of the texts: one that lacks one is a mistake of ours, not a page in two languages."""

    def __init__(self, language: str, known: dict[str, str | tuple[str, ...]]) -> None:
        super().__init__()
        self._language, self._known = language, known

    def gettext(self, message: str) -> str:
        found = self._found(message)
        return found if isinstance(found, str) else found[0]

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:  # noqa: ARG002 - all three languages say it alike
        found = self._found(msgid1)
        return found if isinstance(found, str) else found[n != 1]

    def _found(self, message: str) -> str | tuple[str, ...]:
        if message not in self._known:
            raise ConfigurationError(f"web/look/translations/{self._language}.po lacks {message!r}: add it")
        return self._known[message]


@lru_cache(maxsize=8)
def translations(language: LanguageCode) -> NullTranslations:
    """Of a language of two letters."""
    if language == "en":
        return NullTranslations()
    with (FOLDER / "translations" / f"{language}.po").open("rb") as file:
        known: dict[str, str | tuple[str, ...]] = {}
        for message in read_po(file, locale=language):
            if message.string and not message.fuzzy:
                singular = message.id if isinstance(message.id, str) else message.id[0]
                known[singular] = message.string if isinstance(message.string, str) else (*message.string,)
    return Texts(language, known)
