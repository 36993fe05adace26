"""The person's decisions over their data: consent, a copy of everything, and its deletion."""

from functools import partial
from typing import Annotated, Literal, get_args

from babel import Locale
from fastapi import APIRouter, Form
from sqlalchemy import Connection
from starlette.responses import Response

from langmem_plugin.errors import InvalidInput, StaleMemory, TurnTimeout, UnknownErasure
from langmem_plugin.memory.memory_types import storable
from langmem_plugin.people import consent_records
from langmem_plugin.people.consent_records import PERMISSIONS, Permission
from langmem_plugin.people.person_settings import LanguageCode
from langmem_plugin.web.app_context import exported
from langmem_plugin.web.authentication import PAGE, let_out
from langmem_plugin.web.look.page_templates import translations
from langmem_plugin.web.person.person_request import Here, Visit
from langmem_plugin.web.sealed_person_addresses import PersonRefs
from langmem_plugin.writing.consent import QUESTION_VERSION

router = APIRouter(prefix="/privacy")

ERASE_WORD = "DELETE"
"""The word to be typed before everything is deleted; the catalogues have it in their languages."""

_Text = Annotated[str, Form()]


@router.get("")
def standing(visit: Here, done: str = "") -> Response:
    return _shown(visit, done=done)


@router.post("/consent")
def decide(visit: Here, permission: _Text, seen: _Text, allowed: _Text, words: _Text = "") -> Response:
    """Set a permission; `seen` is its state on the page, `words` the text of the button that was pressed."""
    if permission not in PERMISSIONS:
        raise InvalidInput(f"there is no permission {permission!r}")
    on, said = allowed == "yes", storable(words)
    decided = visit.memory.consent
    try:
        with visit.memory.database.provided(partial(_refuse_changed, visit, permission, seen)):
            if permission != "extraction":
                decided.set(visit.owner, text=said, version=QUESTION_VERSION, **{permission: on})
            elif on:
                decided.switch_on(visit.owner, text=said, version=QUESTION_VERSION)
            else:
                decided.switch_off(visit.owner, text=said, version=QUESTION_VERSION)
    except StaleMemory:
        return _shown(visit, done="changed", status=409)
    return visit.go(f"privacy?done={'allowed' if on else 'withdrawn'}")


@router.post("/language")
def speak(visit: Here, language: Annotated[LanguageCode, Form()]) -> Response:
    """Set the person's language until they write in another."""
    visit.memory.people.set_language(visit.owner, language)
    return visit.go("privacy?done=language")


@router.post("/unlink")
def unlink(visit: Here, identifier: _Text) -> Response:
    """Unlink an identifier; what came with it goes back to it."""
    key = PersonRefs(visit.memory.database).person(identifier)
    if key is None or key not in visit.memory.people.identifiers(visit.identifier)[1:]:
        return _shown(visit, done="changed", status=409)
    visit.memory.people.unlink(key)
    return visit.go("privacy?done=unlinked")


@router.post("/export")
def export(visit: Here, form: Annotated[Literal["json", "csv"], Form()]) -> Response:
    """Send all that is stored of the person as a file, which is kept nowhere."""
    visit.memory.people.refuse_newly_linked(visit.owner)
    return exported(visit.memory, visit.owner, form, name="memory")


@router.get("/erase")
def ask(visit: Here) -> Response:
    return _asked(visit)


@router.post("/erase")
def erase(visit: Here, typed: _Text = "") -> Response:
    """Delete everything of the person and sign their browser out: nobody is left whose page this is."""
    if typed.strip().casefold() != erase_word(visit).casefold():
        return _asked(visit, typed=typed, refused="word", status=422)
    visit.memory.people.refuse_newly_linked(visit.owner)
    try:
        receipt = visit.memory.erase(visit.identifier)
    except TurnTimeout:
        return _asked(visit, typed=typed, refused="busy", status=409)
    response = visit.page("erased.html", at="", receipt=receipt)
    let_out(visit.request, response, PAGE)
    return response


@router.post("/restore")
def restore(visit: Here) -> Response:
    try:
        visit.memory.restore_erased(visit.identifier)
    except (UnknownErasure, TurnTimeout):
        return _shown(visit, done="not_restored", status=409)
    # Data since the erasure has joined the restored data, but not the access of a browser let in meanwhile.
    response = visit.page("closed.html", at="", why="restored")
    let_out(visit.request, response, PAGE)
    return response


def erase_word(visit: Visit) -> str:
    return translations(visit.language).gettext(ERASE_WORD)


def _asked(visit: Visit, *, typed: str = "", refused: str = "", status: int = 200) -> Response:
    return visit.page(
        "erase.html",
        status=status,
        at="privacy",
        until=visit.memory.erasure.would_be_due(),
        holdings=visit.memory.exporter.holdings(visit.owner),
        word=erase_word(visit),
        typed=typed,
        refused=refused,
    )


def _shown(visit: Visit, *, done: str = "", status: int = 200) -> Response:
    memory = visit.memory
    return visit.page(
        "privacy.html",
        status=status,
        at="privacy",
        consent=memory.consent.of_owner(visit.owner),
        word=memory.consent.word_of(visit.owner),
        extracts=memory.settings.extracts,
        identifiers=memory.people.identifiers(visit.identifier),
        ref=PersonRefs(memory.database).ref,
        languages={each: Locale(each).get_display_name() for each in get_args(LanguageCode)},
        holdings=memory.exporter.holdings(visit.owner),
        erased=memory.erasure.can_restore(visit.identifier),
        done=done,
    )


def _refuse_changed(visit: Visit, name: Permission, seen: str, connection: Connection) -> None:
    """Raise StaleMemory for a changed permission, in the transaction that writes it."""
    held = getattr(consent_records.consent_in(connection, visit.owner, lock=True), name)
    if seen != ("yes" if held.allowed else "no"):
        raise StaleMemory("what may be remembered was decided elsewhere since: look at it again")
