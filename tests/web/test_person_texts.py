"""Every text of the pages is in every language, and no catalogue holds what no page says."""

import re

import pytest
from babel.messages.pofile import read_po
from jinja2.ext import babel_extract

from langmem_plugin import web
from langmem_plugin.web.look import FOLDER
from langmem_plugin.web.person import TEMPLATES
from langmem_plugin.web.person.privacy_and_export import ERASE_WORD
from tests.cases import for_each

pytestmark = pytest.mark.spec("U-10")

_OPTIONS = {"trimmed": "true", "newstyle_gettext": "true", "silent": "false"}
_WRITTEN_ALIKE = {"No", "Chats", "chats"}  # in Spanish


def texts_in(*folders):
    """English by English, of a plural both."""
    found = set()
    for folder in folders:
        for file in sorted(folder.glob("*.html")):
            with file.open("rb") as opened:
                for _, kind, message, _ in babel_extract(opened, ("gettext", "ngettext"), (), _OPTIONS):
                    parts = [each for each in ([message] if isinstance(message, str) else message) if each is not None]
                    found.add(tuple(parts[: 2 if kind == "ngettext" else 1]))
    return found


def catalogue(language):
    with (FOLDER / "translations" / f"{language}.po").open("rb") as file:
        return {(each.id if isinstance(each.id, tuple) else (each.id,)): each for each in read_po(file) if each.id}


def filled_in(text):
    return sorted(re.findall(r"%\((\w++)\)s", text))


@for_each("language", ["he", "es"])
def test_every_text_of_the_page_is_in_the_catalogue(language):
    wanted = texts_in(TEMPLATES, FOLDER / "templates") | {(ERASE_WORD,)}
    assert len(wanted) > 150
    assert wanted <= catalogue(language).keys()


@for_each("language", ["he", "es"])
def test_a_catalogue_holds_nothing_that_no_page_says(language):
    folders = sorted((FOLDER.parent).glob("*/templates"))
    assert catalogue(language).keys() - texts_in(*folders) <= {(ERASE_WORD,)}


@for_each(("language", "letters"), [("he", "[א-ת]"), ("es", "[a-zñáéíóú]")])
def test_a_translation_is_one_and_is_filled_in_with_the_same(language, letters):
    for english, message in catalogue(language).items():
        assert not message.fuzzy
        said = message.string if isinstance(message.string, tuple) else (message.string,)
        assert len(said) == len(english)
        assert filled_in(said[-1]) == filled_in(english[-1]), english
        for text in said:
            assert re.search(letters, re.sub(r"%\(\w++\)s", "", text), re.IGNORECASE), english
            assert text not in english or text in _WRITTEN_ALIKE, english


def test_a_template_has_no_sentence_of_its_own():
    """What stands outside of a translated block is markup, or filled in."""
    for file in sorted(TEMPLATES.glob("*.html")):
        text = file.read_text("utf-8")
        for block in (r"\{% trans\b.*?endtrans %\}", r"\{%.*?%\}", r"\{\{.*?\}\}", r"<[^<>]*+>"):
            text = re.sub(block, "", text, flags=re.DOTALL)
        assert not re.search(r"[A-Za-z]{3,}+", text), (file.name, re.search(r"[A-Za-z]{3,}+", text)[0])


def test_the_templates_and_their_files_are_part_of_the_package():
    assert TEMPLATES.is_relative_to(FOLDER.parent)
    assert web.__file__
    for file in ("langmem.css", "person.css", "person.js", "htmx.min.js", "trouble.js"):
        assert (FOLDER / "static" / file).is_file()
