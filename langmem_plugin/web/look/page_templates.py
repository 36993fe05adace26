"""Makes pages from templates: every value is escaped, and texts are in the reader's language."""

from collections.abc import Sequence
from functools import lru_cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from langmem_plugin.people.person_settings import LanguageCode
from langmem_plugin.web.app_context import root_of
from langmem_plugin.web.look import FOLDER
from langmem_plugin.web.look.static_files import address_of

_RIGHT_TO_LEFT = frozenset({"he"})


class Pages:
    """The templates of `folder`, and those that both pages share."""

    def __init__(self, folder: Path) -> None:
        self._folders = [folder, FOLDER / "templates"]
        self._environments: dict[LanguageCode, Environment] = {}

    def page(
        self, request: Request, name: str, *, language: LanguageCode = "en", status: int = 200, **values: Any
    ) -> HTMLResponse:
        """The page of one template; `values` are the names in it."""
        template = self._in(language).get_template(name)
        root = root_of(request)
        text = template.render(
            language=language,
            direction="rtl" if language in _RIGHT_TO_LEFT else "ltr",
            look=lambda file: f"{root}/look/{address_of(file)}",
            root=root,
            **values,
        )
        return HTMLResponse(text, status)

    def names(self) -> Sequence[str]:
        return self._in("en").list_templates()

    def _in(self, language: LanguageCode) -> Environment:
        """The environment of a language, which keeps its templates compiled.

        Each language has one of its own: two overlays of one environment would share their texts.
        """
        made = self._environments.get(language)
        if made is None:
            made = Environment(
                loader=FileSystemLoader(self._folders),
                autoescape=True,
                undefined=StrictUndefined,
                trim_blocks=True,
                lstrip_blocks=True,
                extensions=["jinja2.ext.i18n"],
            )
            made.policies["ext.i18n.trimmed"] = True
            made.install_gettext_translations(translations(language), newstyle=True)  # type: ignore[attr-defined]
            self._environments[language] = made
        return made


@lru_cache(maxsize=8)
def translations(language: LanguageCode) -> NullTranslations:
    """The translations of a language, named by two letters."""
    if language == "en":
        return NullTranslations()
    compiled = BytesIO()
    with (FOLDER / "translations" / f"{language}.po").open("rb") as file:
        write_mo(compiled, read_po(file, locale=language))
    compiled.seek(0)
    return GNUTranslations(compiled)
