"""/privacy: shows what may be remembered without being told to, and switches it."""

from collections.abc import Mapping

from langmem_plugin.agent.replies import Replies
from langmem_plugin.identifiers import is_group
from langmem_plugin.people.consents import Consent, Permission
from langmem_plugin.writing.consent import Consents

_ON = frozenset(("on", "yes", "allow", "הפעל", "הפעילי", "כן", "מותר", "activar", "activa", "sí", "si", "permitir"))
_OFF = frozenset(("off", "no", "stop", "forbid", "כבה", "כבי", "לא", "אסור", "desactivar", "desactiva", "prohibir"))
_PERSONAL = ("personal", "private", "אישי", "אישית", "אישיים", "אישיות", "personales")
_SENSITIVE = ("sensitive", "רגיש", "רגישה", "רגישים", "רגישות", "sensible", "sensibles", "delicado", "delicados")
_PARTS: Mapping[str, Permission] = {
    **dict.fromkeys(_PERSONAL, "personal"),
    **dict.fromkeys(_SENSITIVE, "sensitive"),
}


class Privacy:
    """Where it does not `extract`, nothing is promised that nobody does."""

    def __init__(self, consents: Consents, *, extracts: bool = True) -> None:
        self._consents = consents
        self._extracts = extracts

    def answer(self, owner: str, rest: str, replies: Replies) -> str:
        words = rest.casefold().strip(" .!").split()
        if not words:
            return self._stands(self._consents.of_owner(owner), replies)
        parts = [_PARTS[each] for each in words if each in _PARTS]
        switches = [each in _ON for each in words if each in _ON or each in _OFF]
        if len(switches) != 1 or len(parts) + 1 != len(words) or len(parts) > 1:
            return f"{replies.privacy_unknown}\n{self._stands(self._consents.of_owner(owner), replies)}"
        (on,) = switches
        # One member of a group cannot agree for the others; anybody may say stop.
        if on and is_group(owner):
            return replies.privacy_not_here
        if parts:
            held = self._consents.set(owner, **{parts[0]: on})
            return self._stands(held, replies)
        held = self._consents.switch_on(owner) if on else self._consents.switch_off(owner)
        if on and not self._extracts:
            return self._stands(held, replies)
        return f"{replies.privacy_on if on else replies.privacy_off}\n{self._stands(held, replies)}"

    def _stands(self, held: Consent, replies: Replies) -> str:
        return _told(held, replies) if self._extracts else replies.privacy_only_asked


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
