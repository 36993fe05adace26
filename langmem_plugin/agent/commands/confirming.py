"""/confirm, and the answer to what a reply asked at its end: whether to remember it, or whether it is still so."""

import re
from collections.abc import Collection, Mapping, Sequence

from langmem_plugin.agent.commands.lines import one_line, typed_in
from langmem_plugin.agent.commands.open_questions import OpenQuestion
from langmem_plugin.agent.replying.replies import Replies
from langmem_plugin.errors import DamagedMemory, MemoryNotFound, StaleMemory
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory import Memory, MemoryService
from langmem_plugin.memory.models import Remembered
from langmem_plugin.people.person_settings import PersonSettings
from langmem_plugin.references.said.yes_or_no import agrees
from langmem_plugin.writing.confirmation import Confirmations

_PAGE = 1_000  # letters


def remembered(service: MemoryService, made: Memory, replies: Replies) -> str:
    outcome = made.outcome if isinstance(made, Remembered) else "stored"
    if outcome == "duplicate":
        return replies.known_already.format(fact=_shown(made.text))
    if isinstance(made, Remembered) and outcome == "superseded":
        with service.database.read() as connection:
            replaced = service.repository.by_ids(connection, made.owner, made.concerned)
        if replaced:
            old = "; ".join(one_line(each.text) for each in replaced)
            return replies.remembered_instead.format(fact=_shown(made.text), old=old)
    return replies.remembered.format(fact=_shown(made.text))


def _shown(text: str) -> str:
    """Whole, but for a page of text, which nobody wants back."""
    return one_line(text) if len(text) > _PAGE else text


log = event_log(__name__)

_LONGEST_ANSWER = 60  # letters
_SHOWN = 20
# What repeats the question's own words beside the yes or the no.
_BESIDE_YES = re.compile(
    r"(?:please )?(?:do )?(?:remember|keep|save)(?: (?:it|that|this))?(?: please)?"
    r"|(?:it|that)(?: is|'s)(?: still)?(?: (?:so|true|right|correct))?|still(?: (?:is|so|true))?"
    r"|(?:בבקשה )?(?:תזכור|תזכרי|תשמור|תשמרי|זכור|זכרי)(?: (?:את )?(?:זה|זאת))?(?: בבקשה)?"
    r"|(?:זה )?עדיין(?: נכון| ככה)?|זה נכון"
    r"|(?:por favor )?(?:recuérdalo|recuerdalo|recuérdelo|recuerda|guárdalo|guardalo)(?: (?:eso|esto))?(?: por favor)?"
    r"|(?:todavía|aún)(?: es así| sí)?|sigue(?: siendo)?(?: así| igual)|así es",
    re.IGNORECASE,
)
_NO_IN_WORDS = re.compile(
    r"(?:please )?(?:don't|do not) (?:remember|keep|save)(?: (?:it|that|this))?(?: please)?"
    r"|(?:it|that)(?: is not|'s not| isn't)(?: (?:so|true|right|correct))?(?: any ?more)?|not any ?more|no longer"
    r"|(?:בבקשה )?אל (?:תזכור|תזכרי|תשמור|תשמרי)(?: (?:את )?(?:זה|זאת))?(?: בבקשה)?"
    r"|(?:זה )?(?:כבר )?לא(?: נכון)?"
    r"|(?:por favor )?no lo (?:recuerdes|guardes)(?: por favor)?|(?:eso )?ya no(?: es así)?",
    re.IGNORECASE,
)
# What waves the question away, or agrees to something else than what was asked, decides nothing.
_DISMISSED = re.compile(
    r"nope,? thanks|no,? (?:thanks|thank you|thx|problem|worries)\b.*"
    r"|(?:not now|nah|never ?mind|stop|cancel|reject(?:ed)?|refuse)\b.*"
    r"|do(?:n't| not)(?: do it)?|forget (?:it|that|this)|why not|sounds good|fine|all ?right|whatever"
    r"|go (?:ahead|for it)|by all means|sure thing"
    r"|לא,? תודה.*|ביטול|(?:ת?בטלי?|עזובי?|עזבי|עצורי?|עצרי)\b.*|(?:תשכחי?|שכחי?) מזה|יאללה|קדימה"
    r"|no,? gracias.*|nada|cancelar?|cancelalo|cancélalo|detente|olvídalo|olvidalo|mejor no|venga|bueno|adelante|hazlo",
    re.IGNORECASE,
)
_ALL = re.compile(r"(?:yes\s+)?(?:all|everything)|הכל|הכול|(?:sí\s+|si\s+)?(?:todo|todos|todas)", re.IGNORECASE)
_NO = re.compile(r"(?:no|not|decline|reject|forget|לא|שכח|שכחי|rechazar|olvidar|olvida)\b\s*", re.IGNORECASE)
_YES = re.compile(r"(?:yes|confirm|כן|sí|si)\b\s*", re.IGNORECASE)
_NUMBERS = re.compile(r"#?\d{1,4}(?:[ ,;]{1,3}(?:and |y |ו-?)?#?\d{1,4}){0,49}", re.IGNORECASE)


class Confirming:
    def __init__(self, confirmations: Confirmations, person_settings: PersonSettings, service: MemoryService) -> None:
        self._confirmations = confirmations
        self._service = service
        self._person_settings = person_settings

    def answered(self, owner: OwnerKey, text: str, question: OpenQuestion, replies: Replies) -> str | None:
        """The reply to what a person said to what a reply asked; None if that is no answer to it."""
        yes = verdict(text)
        if yes is None:
            return None
        about = question.details
        memory_id, revision, in_doubt = about["memory_id"], about["revision"], about["in_doubt"]
        if in_doubt:
            return self._in_doubt(owner, memory_id, revision, replies, yes=yes)
        return self._waiting(owner, memory_id, revision, replies, yes=yes)

    def confirm(self, owner: OwnerKey, rest: str, replies: Replies) -> str:
        """/confirm lists what waits; with numbers, or all, it is remembered, or behind a no forgotten.

        A number is what it was in the list that the person was shown last.
        """
        waiting = self._confirmations.waiting(owner)
        if not rest:
            return self._listed(owner, waiting, replies)
        by_number = self._person_settings.shown(owner, "confirm")
        by_number = by_number or {number: each.id for number, each in enumerate(waiting, 1)}
        no = _NO.match(rest)
        which = rest[no.end() :] if no else _YES.sub("", rest, count=1)
        chosen = self._chosen(which, by_number, waits={each.id for each in waiting})
        if chosen is None:
            return replies.confirm_number.format(most=max(by_number)) if by_number else replies.nothing_waits
        if not chosen:
            return self._listed(owner, waiting, replies)
        return "\n".join(self._waiting(owner, memory_id, None, replies, yes=no is None) for memory_id in chosen)

    def _listed(self, owner: OwnerKey, waiting: Sequence[Memory], replies: Replies) -> str:
        if not waiting:
            return replies.nothing_waits
        shown = dict(enumerate(waiting[:_SHOWN], 1))
        self._person_settings.note_shown(owner, "confirm", {number: each.id for number, each in shown.items()})
        lines = [f"{number}. {one_line(each.text)}" for number, each in shown.items()]
        how = replies.confirm_how.format(
            one=typed_in(replies, "/confirm", 1),
            no=typed_in(replies, "/confirm", f"{replies.no_word} 1"),
            all=typed_in(replies, "/confirm", replies.all_word),
        )
        return "\n".join([replies.these_wait.format(count=len(waiting)), *lines, how])

    def _chosen(self, which: str, by_number: Mapping[int, str], *, waits: Collection[str]) -> list[str] | None:
        """The ids that a text names; None for what names nothing that was shown."""
        which = " ".join(which.split()).strip(" .!")
        open_ones = [each for each in by_number.values() if each in waits]
        if _ALL.fullmatch(which) or (not which and len(open_ones) == 1):  # a yes or a no to the only one
            return open_ones
        if not _NUMBERS.fullmatch(which):
            return None
        numbers = list(dict.fromkeys(map(int, re.findall(r"\d+", which))))
        return [by_number[each] for each in numbers] if all(each in by_number for each in numbers) else None

    def _waiting(self, owner: OwnerKey, memory_id: str, revision: int | None, replies: Replies, *, yes: bool) -> str:
        try:
            if yes:
                made = self._confirmations.confirm(owner, memory_id, revision=revision)
                return remembered(self._service, made, replies)
            gone = self._confirmations.decline(owner, memory_id, revision=revision)
        except (MemoryNotFound, StaleMemory, DamagedMemory):
            return self._decided_before(owner, memory_id, replies, yes=yes)
        return replies.declined.format(fact=one_line(gone.text))

    def _in_doubt(self, owner: OwnerKey, memory_id: str, revision: int, replies: Replies, *, yes: bool) -> str:
        try:
            if yes:
                held = self._confirmations.still_so(owner, memory_id, revision=revision)
                return replies.still_so.format(fact=one_line(held.text))
            over = self._confirmations.no_longer_so(owner, memory_id, revision=revision)
        except (MemoryNotFound, StaleMemory, DamagedMemory):
            log.info("confirmation.changed", extra={"owner": masked(owner)})
            return replies.confirm_changed
        return replies.no_longer_so.format(fact=one_line(over.text))

    def _decided_before(self, owner: OwnerKey, memory_id: str, replies: Replies, *, yes: bool) -> str:
        """The reply if the question was decided before: by the same answer, cut short before it was noted, or in
        another way.
        """
        log.info("confirmation.changed", extra={"owner": masked(owner)})
        held = self._confirmations.look(owner, memory_id)
        if held is not None and yes and held.status == "active":
            return replies.remembered.format(fact=held.text)
        if held is not None and not yes and held.status == "forgotten":
            return replies.declined.format(fact=one_line(held.text))
        return replies.confirm_changed


def verdict(text: str) -> bool | None:
    """Reads a yes or a no that has nothing beside it but the question's own words; None if the text is neither, as one
    that only dismisses the question.
    """
    if len(text) > _LONGEST_ANSWER:
        return None
    said = " ".join(text.replace("’", "'").split()).strip(" .!")
    if _DISMISSED.fullmatch(said):
        return None
    if _NO_IN_WORDS.fullmatch(said):
        return False
    if _BESIDE_YES.fullmatch(said):
        return True
    found = agrees(said)
    if found is None:
        return None
    beside = _BESIDE_YES if found.yes else _NO_IN_WORDS
    return found.yes if not found.rest or beside.fullmatch(found.rest.strip(" .!")) else None
