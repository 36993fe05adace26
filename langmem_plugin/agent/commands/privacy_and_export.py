"""/privacy and /export: what may be remembered without a request, all that is stored, and its erasure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from langmem_plugin.agent.commands.command_call_and_paging import CommandCall
from langmem_plugin.agent.commands.memories_and_search import memories
from langmem_plugin.agent.commands.remember_and_confirm import verdict
from langmem_plugin.agent.replying.reply_texts import words_for
from langmem_plugin.errors import TurnTimeout, UnknownErasure
from langmem_plugin.identifiers import is_group
from langmem_plugin.people.consent_records import Consent, Permission
from langmem_plugin.writing.consent import QUESTION_VERSION

_ON, _OFF = frozenset(words_for("on")), frozenset(words_for("off"))
_ERASE, _RESTORE, _EVERYTHING = (frozenset(words_for(name)) for name in ("erase", "restore", "everything"))
_KINDS: tuple[Permission, ...] = ("personal", "sensitive")
_PARTS: Mapping[str, Permission] = {word: kind for kind in _KINDS for word in words_for(kind)}


def export(call: CommandCall) -> str:
    """Tell the person how much is stored, and list the first memories. A reply is text, so whoever runs the service
    hands over the document itself (`PhoneMemory.export`).
    """
    if not is_group(call.owner):
        call.parts.people.refuse_newly_linked(call.owner)
    held = call.parts.exporter.holdings(call.owner)
    told = [call.replies.export_holds.format(**asdict(held)), memories(replace(call, rest=""))]
    return "\n".join([*told, call.replies.export_ask])


def privacy(call: CommandCall) -> str:
    """Show what may be remembered, switch it, ask whether everything is to be erased, or take that back."""
    words = _words(call.rest)
    if not words:
        return _stands(call, call.parts.consent.of_owner(call.owner))
    if erases(call.rest):
        return _asks_to_erase(call) if words[0] in _ERASE else _restored(call)
    return _switched(call, words)


def erases(rest: str) -> bool:
    """Tell whether the command would delete everything, or take that back."""
    words = _words(rest)
    return bool(words) and words[0] in _ERASE | _RESTORE and not set(words[1:]) - _EVERYTHING


def erasing_answered(call: CommandCall, _details: Mapping[str, Any]) -> str:
    """Reply to the person's answer whether everything is to be deleted."""
    if not verdict(call.rest):
        return call.replies.nothing_forgotten
    call.parts.people.refuse_newly_linked(call.owner)
    zone = call.zone  # it is erased too
    try:
        receipt = call.parts.erasure.erase(call.owner)
    except TurnTimeout:
        return call.replies.erase_later
    return call.replies.erased_all.format(date=f"{receipt.due_at.astimezone(zone):%Y-%m-%d}")


def consented(call: CommandCall, details: Mapping[str, Any]) -> str | None:
    """Reply to the person's answer whether they, and sensitive facts too, may be remembered; a reply asked this at its
    end. Return None if the text is no answer.
    """
    yes, consent = verdict(call.rest), call.parts.consent
    if yes is None:
        return None
    how: dict[str, Any] = {"text": call.rest, "version": QUESTION_VERSION}
    if details["consent"] == "sensitive":
        return _stands(call, consent.set(call.owner, **how, sensitive=yes))
    (consent.switch_on if yes else consent.switch_off)(call.owner, **how)
    return call.replies.privacy_on if yes else call.replies.privacy_off


def _asks_to_erase(call: CommandCall) -> str:
    if is_group(call.owner):
        return call.replies.erase_not_here
    call.parts.people.refuse_newly_linked(call.owner)
    call.parts.questions.ask(call.owner, "erase", {})
    until = call.parts.erasure.would_be_due().astimezone(call.zone)
    return call.replies.erase_all.format(date=f"{until:%Y-%m-%d}")


def _restored(call: CommandCall) -> str:
    try:
        call.parts.erasure.restore(call.owner)
    except UnknownErasure:
        return call.replies.nothing_to_restore
    except TurnTimeout:
        return call.replies.erase_later
    return call.replies.restored_all


def _switched(call: CommandCall, words: Sequence[str]) -> str:
    consent, owner, replies = call.parts.consent, call.owner, call.replies
    parts = [_PARTS[each] for each in words if each in _PARTS]
    switches = [each in _ON for each in words if each in _ON or each in _OFF]
    if len(switches) != 1 or len(parts) + 1 != len(words) or len(parts) > 1:
        return f"{replies.privacy_unknown}\n{_stands(call, consent.of_owner(owner))}"
    (on,) = switches
    # One member of a group cannot agree for the others; anybody may say stop.
    if on and is_group(owner):
        return replies.privacy_not_here
    how: dict[str, Any] = {"text": call.rest, "version": QUESTION_VERSION}
    if parts:
        return _stands(call, consent.set(owner, **{**how, parts[0]: on}))
    held = (consent.switch_on if on else consent.switch_off)(owner, **how)
    if on and not call.parts.settings.extracts:
        return _stands(call, held)
    return f"{replies.privacy_on if on else replies.privacy_off}\n{_stands(call, held)}"


def _stands(call: CommandCall, held: Consent) -> str:
    """Tell what is allowed. Where nothing extracts, promise no extraction."""
    if not call.parts.settings.extracts:
        return call.replies.privacy_only_asked
    given = {"extraction": held.extraction, "personal": held.personal, "sensitive": held.sensitive}
    switched = call.replies.switched
    return call.replies.privacy.format(
        **{name: switched["on" if each.allowed else "off"] for name, each in given.items()}
    )


def _words(rest: str) -> list[str]:
    return rest.casefold().strip(" .!").split()
