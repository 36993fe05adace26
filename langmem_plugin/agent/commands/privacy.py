"""/privacy: shows what may be remembered without being told to, switches it; deletes everything, or takes it back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from typing import Any

from langmem_plugin.agent.commands.confirming import verdict
from langmem_plugin.agent.commands.memory_list import MemoryList
from langmem_plugin.agent.commands.open_questions import OpenQuestions
from langmem_plugin.agent.replying.replies import Replies
from langmem_plugin.errors import TurnTimeout, UnknownErasure
from langmem_plugin.identifiers import OwnerKey, is_group
from langmem_plugin.people import People
from langmem_plugin.people.consents import Consent, Permission
from langmem_plugin.people.person_settings import PersonSettings
from langmem_plugin.portability.exporter import Holdings
from langmem_plugin.privacy.erasure import Erasure
from langmem_plugin.writing.consent import QUESTION_VERSION, Consents


class Exporting:
    """A reply is text, so the document itself (`PhoneMemory.export`) is for whoever runs the service to hand over."""

    def __init__(self, holdings: Callable[[OwnerKey], Holdings], memories: MemoryList, people: People) -> None:
        self._holdings = holdings
        self._memories = memories
        self._people = people

    def answer(self, owner: OwnerKey, _rest: str, replies: Replies) -> str:
        if not is_group(owner):
            self._people.refuse_newly_linked(owner)
        held = self._holdings(owner)
        told = [replies.export_holds.format(**asdict(held)), self._memories.listed(owner, "", replies)]
        return "\n".join([*told, replies.export_ask])


_ON = frozenset(("on", "yes", "allow", "הפעל", "הפעילי", "כן", "מותר", "activar", "activa", "sí", "si", "permitir"))
_OFF = frozenset(("off", "no", "stop", "forbid", "כבה", "כבי", "לא", "אסור", "desactivar", "desactiva", "prohibir"))
_ERASE = frozenset(
    ("erase", "delete", "מחק", "מחקי", "תמחק", "תמחקי", "מחיקה", "borrar", "borra", "eliminar", "elimina")
)
_RESTORE = frozenset(("restore", "undo", "שחזר", "שחזרי", "שחזור", "restaurar", "restaura", "recuperar", "deshacer"))
_EVERYTHING = frozenset(("everything", "all", "הכל", "הכול", "todo"))
_PERSONAL = ("personal", "private", "אישי", "אישית", "אישיים", "אישיות", "personales")
_SENSITIVE = ("sensitive", "רגיש", "רגישה", "רגישים", "רגישות", "sensible", "sensibles", "delicado", "delicados")
_PARTS: Mapping[str, Permission] = {
    **dict.fromkeys(_PERSONAL, "personal"),
    **dict.fromkeys(_SENSITIVE, "sensitive"),
}


@dataclass(eq=False)
class Privacy:
    """Answers /privacy. Without `extract` it promises nothing about extraction, which nobody does."""

    consents: Consents
    erasure: Erasure
    questions: OpenQuestions
    person_settings: PersonSettings
    people: People
    _: KW_ONLY
    extracts: bool = True

    def answer(self, owner: OwnerKey, rest: str, replies: Replies) -> str:
        words = _words(rest)
        if not words:
            return self._stands(self.consents.of_owner(owner), replies)
        if self.erases(rest):
            return self._asks_to_erase(owner, replies) if words[0] in _ERASE else self._restored(owner, replies)
        return self._switched(owner, rest, words, replies)

    def erases(self, rest: str) -> bool:
        """Tells whether the command would delete everything, or take that back."""
        words = _words(rest)
        return bool(words) and words[0] in _ERASE | _RESTORE and not set(words[1:]) - _EVERYTHING

    def answered(self, owner: OwnerKey, text: str, replies: Replies) -> str:
        """Replies to the person's answer if everything is to be deleted."""
        if not verdict(text):
            return replies.nothing_forgotten
        self.people.refuse_newly_linked(owner)
        zone = self.person_settings.time_zone(owner)
        try:
            receipt = self.erasure.erase(owner)
        except TurnTimeout:
            return replies.erase_later
        return replies.erased_all.format(date=f"{receipt.due_at.astimezone(zone):%Y-%m-%d}")

    def consented(self, owner: OwnerKey, text: str, asked: Any, replies: Replies) -> str | None:
        """Replies to the person's answer if they, or sensitive facts too, may be remembered, as a reply asked at its
        end; None if the text is no answer.
        """
        yes = verdict(text)
        if yes is None:
            return None
        if asked == "sensitive":
            return self._stands(self.consents.set(owner, text=text, version=QUESTION_VERSION, sensitive=yes), replies)
        switch = self.consents.switch_on if yes else self.consents.switch_off
        switch(owner, text=text, version=QUESTION_VERSION)
        return replies.privacy_on if yes else replies.privacy_off

    def _asks_to_erase(self, owner: OwnerKey, replies: Replies) -> str:
        if is_group(owner):
            return replies.erase_not_here
        self.people.refuse_newly_linked(owner)
        self.questions.ask(owner, "erase", {})
        until = self.erasure.would_be_due().astimezone(self.person_settings.time_zone(owner))
        return replies.erase_all.format(date=f"{until:%Y-%m-%d}")

    def _restored(self, owner: OwnerKey, replies: Replies) -> str:
        try:
            self.erasure.restore(owner)
        except UnknownErasure:
            return replies.nothing_to_restore
        except TurnTimeout:
            return replies.erase_later
        return replies.restored_all

    def _switched(self, owner: OwnerKey, rest: str, words: Sequence[str], replies: Replies) -> str:
        parts = [_PARTS[each] for each in words if each in _PARTS]
        switches = [each in _ON for each in words if each in _ON or each in _OFF]
        if len(switches) != 1 or len(parts) + 1 != len(words) or len(parts) > 1:
            return f"{replies.privacy_unknown}\n{self._stands(self.consents.of_owner(owner), replies)}"
        (on,) = switches
        # One member of a group cannot agree for the others; anybody may say stop.
        if on and is_group(owner):
            return replies.privacy_not_here
        if parts:
            held = self.consents.set(owner, text=rest, version=QUESTION_VERSION, **{parts[0]: on})
            return self._stands(held, replies)
        switch = self.consents.switch_on if on else self.consents.switch_off
        held = switch(owner, text=rest, version=QUESTION_VERSION)
        if on and not self.extracts:
            return self._stands(held, replies)
        return f"{replies.privacy_on if on else replies.privacy_off}\n{self._stands(held, replies)}"

    def _stands(self, held: Consent, replies: Replies) -> str:
        return _told(held, replies) if self.extracts else replies.privacy_only_asked


def _told(held: Consent, replies: Replies) -> str:
    return replies.privacy.format(
        **{
            name: replies.switched["on" if given.allowed else "off"]
            for name, given in (
                ("extraction", held.extraction),
                ("personal", held.personal),
                ("sensitive", held.sensitive),
            )
        }
    )


def _words(rest: str) -> list[str]:
    return rest.casefold().strip(" .!").split()
