"""People: one person may have several identifiers, and every verb takes any of them."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.database import Database
from langmem_plugin.database.audit_recording import record
from langmem_plugin.database.owners_and_erasures import owner_key, person_in, person_of
from langmem_plugin.errors import InvalidInput, LinkedLately, StoreUnavailable
from langmem_plugin.identifiers import IdentifierKey, OwnerKey, is_group, masked, normalised
from langmem_plugin.logs import event_log
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.memory_types import storable
from langmem_plugin.people import link_codes, links
from langmem_plugin.people.person_merge import Check, Merging, merge_of
from langmem_plugin.people.person_settings import LanguageCode, PersonSettings, keep_name, name_of

log = event_log(__name__)

_LONGEST_NAME = 100


class People:
    """The people of one database. `keeps` is the key of a person whose key
    never changes. If not `enabled`, a reply asks the database nothing about people.

    An identifier may come in any of its spellings. Methods that need the database may raise StoreUnavailable; methods
    that merge wait for the turns of both conversations, and may raise TurnTimeout. Groups and scopes are no people:
    InvalidInput is raised where one is to be linked.
    """

    def __init__(
        self,
        database: Database,
        saver: ConversationSaver,
        service: MemoryService,
        *,
        person_settings: PersonSettings,
        keeps: str | None = None,
        enabled: bool = True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._settings = person_settings
        self._keeps = keeps
        self._enabled = enabled
        self._now = now
        self.merging = Merging(database, saver, service, now)

    def resolve(self, who: str | int) -> OwnerKey:
        """Return the key of the person, or group, with this identifier, in any spelling: everything of theirs is stored
        by it. Every verb that takes an owner calls this by itself.

        An identifier of no known kind is its own key, with a WARNING. Raises InvalidInput for one that names nobody.
        """
        return owner_key(self._database, who)

    def typed(self, who: str | int) -> OwnerKey:
        """Resolve an identifier that may be mistyped: raises InvalidInput for one of no known kind, unless something is
        stored under it; with `user:` before it any text is of a known kind.
        """
        return self.person_of(links.typed(self._database, who))

    def person_of(self, key: str) -> OwnerKey:
        """Return the key of the person with this identifier, which is given in its key form."""
        return person_in(self._database, key)

    def known_as(self, key: str) -> OwnerKey:
        """Return the key of the person with this key; the key itself when the database is down."""
        if not self._enabled:
            return OwnerKey(key)
        try:
            return self.person_of(key)
        except StoreUnavailable:
            log.warning("people.unresolved", exc_info=True, extra={"phone": masked(key)})
            return OwnerKey(key)

    def time_zone(self, who: str | int) -> ZoneInfo:
        """Return the time zone they set, else that of their phone's country, if it has only one, else
        `settings.time_zone`.
        """
        return self._settings.time_zone(self.resolve(who))

    def set_time_zone(self, who: str | int, name: str) -> ZoneInfo:
        """Set the time zone: `name` is an IANA name in any case, or a city. Raises InvalidInput for anything else."""
        return self._settings.set_time_zone(self.resolve(who), name)

    def language(self, who: str | int, otherwise: LanguageCode | None = None) -> LanguageCode:
        """Return the language they wrote last, else `otherwise`, else `settings.language`."""
        return self._settings.language(self.resolve(who), otherwise)

    def set_language(self, who: str | int, language: LanguageCode) -> None:
        """Set the language in which they are answered until they write in another."""
        self._settings.set_language(self.resolve(who), language)

    def name(self, who: str | int) -> str | None:
        """Return the name that an operator gave them; None without one."""
        person = self.resolve(who)
        with self._database.read() as connection:
            return name_of(connection, person)

    def set_name(self, who: str | int, name: str) -> None:
        """Name a person for operators; a blank name takes it away. Raises InvalidInput for one over 100 letters."""
        given = " ".join(storable(name).split())
        if len(given) > _LONGEST_NAME:
            raise InvalidInput(f"a name has at most {_LONGEST_NAME} letters: shorten it")
        person = self.resolve(who)
        with self._database.write() as connection:
            keep_name(connection, person, given or None)
            record(connection, "person.named", owner=person, content=given or None)

    def identifiers(self, who: str | int) -> list[IdentifierKey]:
        """Return the identifiers of the person, their key first."""
        key = normalised(who, self._database.region)
        with self._database.read() as connection:
            return [IdentifierKey(each) for each in links.identifiers_of(connection, person_of(connection, key))]

    def link(self, person: str | int, identifier: str | int) -> OwnerKey | None:
        """Link an identifier to this person. Returns the key of who was merged in, for `unlink`, if it had anything of
        its own, else None.

        If it was linked to another person, that person becomes this one.
        """
        return self._link(self._linkable(person), self._linkable(identifier))

    def unlink(self, identifier: str | int) -> None:
        """Make the identifier a person of its own again. What came with it goes back, a conversation with what was said
        in it since; what came after stays with the person it was linked to.

        Raises InvalidInput for the key of a person with other identifiers: unlink those first.
        """
        key = OwnerKey(self._linkable(identifier))
        while True:
            with self._database.read() as connection:
                person, others = person_of(connection, key), links.identifiers_of(connection, key)[1:]
            if person == key:
                if others:
                    raise InvalidInput(f"{masked(key)} is the key of its person: unlink the other identifiers instead")
                return
            if self.merging.take_back(person, key):
                return
            with links.alone(self._database) as connection:
                if person_of(connection, key) == person and merge_of(connection, person, key) is None:
                    links.remove(connection, key, person)
                    record(connection, "person.unlinked", owner=person)
                    return

    def merge(self, person: str | int, other: str | int) -> OwnerKey:
        """Make both one person, who has all that both had; return the key of who was merged in, for `unlink`.

        Raises InvalidInput where they are one person already.
        """
        merged = self._merged(self._linkable(person), self._linkable(other))
        if merged is None:
            raise InvalidInput("these are one person already: there is nothing to merge")
        return merged

    def moved(self, old: str | int, new: str | int) -> bool:
        """Move a person to a number, or a group to an id, that replaces the old one: all that is stored of `old` is now
        `new`'s, tokens included, and `old` is nobody.

        Returns False, with nothing done, where nothing is stored under `old`. If `new` has something of its own, both
        become one. Raises InvalidInput if one of them is a group, or both are the same, and TurnTimeout as a merge
        does.
        """
        before, after = normalised(old, self._database.region), normalised(new, self._database.region)
        if before == after:
            raise InvalidInput(f"both are {masked(before)}: name the identifier of before, and then the one of now")
        if is_group(before) is not is_group(after):
            raise InvalidInput("a group becomes a group, and a person a person: one of both identifiers is a group's")
        return self.merging.move(before, after)

    def link_code(self, who: str | int) -> str:
        """Return a code for this person to text from another channel; `giver` and `link_agreed` take it.

        It is valid for ten minutes and once. A new one replaces the one before.
        """
        key = self._linkable(who)
        with links.alone(self._database) as connection:
            return link_codes.new_code(connection, person_of(connection, key), self._now())

    def giver(self, who: str | int, code: str) -> str | None:
        """Return the key of the person who was given the code; None for a wrong or expired one.

        After five attempts within ten minutes an identifier's codes are no longer looked at.
        """
        key = self._linkable(who)
        with self._database.write() as connection:
            if not link_codes.may_try(connection, key, self._now()):
                log.warning("people.too_many_codes", extra={"phone": masked(key)})
                return None
            return link_codes.person_with(connection, code, self._now())

    def wait_to_link(self, person: str, who: str | int) -> bool:
        """Note that the one who texted the person's code waits until they agree too; False if the code has expired."""
        with self._database.write() as connection:
            return link_codes.wait(connection, person, self._linkable(who), self._now())

    def waits_to_link(self, who: str | int) -> str | None:
        """Return the key of the one who waits for the person to agree to be linked."""
        key = normalised(who, self._database.region)
        with self._database.read() as connection:
            return link_codes.waiting(connection, person_of(connection, key), self._now())

    def link_agreed(self, person: str, who: str | int, *, waited: bool = False) -> bool:
        """Link the one who texted the person's code, or `waited` for them; False if that has expired."""
        key, used = self._linkable(who), False

        def use(connection: Connection) -> bool:
            nonlocal used
            used = link_codes.use(connection, person, self._now(), key if waited else None)
            if used and person_of(connection, key) != person:
                links.note_new(connection, key, self._now())
            return used

        self._link(person, key, use)
        return used

    def not_linked(self, person: str | int) -> None:
        """Note that the person does not agree: their code is void."""
        with self._database.write() as connection:
            link_codes.forget(connection, person_of(connection, self._linkable(person)))

    def refuse_newly_linked(self, who: str | int) -> None:
        """Raise LinkedLately for a day after a link by a code: nothing may be deleted or exported meanwhile."""
        key = normalised(who, self._database.region)
        with self._database.read() as connection:
            if links.is_new(connection, person_of(connection, key), self._now()):
                raise LinkedLately("a channel was linked less than a day ago: take that back by /link off, or wait")

    def _link(self, person: str, identifier: str, condition: Check = lambda _: True) -> OwnerKey | None:
        with self._database.read() as connection:
            has_nothing = self._has_nothing(connection, person, identifier)
        if has_nothing:  # else no transaction may begin here: a merge first waits for turns
            with links.alone(self._database) as connection:
                one, other = person_of(connection, person), person_of(connection, identifier)
                if self._has_nothing(connection, person, identifier):
                    if condition(connection) and one != other:
                        links.add(connection, one, other, self._now())
                        record(connection, "person.linked", owner=one)
                    return None
        return self._merged(person, identifier, condition)

    def _has_nothing(self, connection: Connection, person: str, identifier: str) -> bool:
        """Tell whether there is nothing to merge: they are one person already, or nothing is stored of the other."""
        one, other = person_of(connection, person), person_of(connection, identifier)
        return one == other or (other != self._keeps and not links.is_known(connection, other))

    def _merged(self, person: str, other: str, condition: Check = lambda _: True) -> OwnerKey | None:
        """Merge; return whose all it was, None if they are one person already or the condition does not hold."""
        before = None
        while (pair := self._keys_of(person, other)) != before and pair[0] != pair[1]:
            kept, moving = reversed(pair) if pair[1] == self._keeps else pair
            still = partial(self._still, person, other, pair, condition)
            if self.merging.merge(kept, moving, still):
                return moving
            before = pair  # another pair by then: one of them was merged with somebody else meanwhile
        return None

    def _keys_of(self, *identifiers: str) -> tuple[OwnerKey, ...]:
        with self._database.read() as connection:
            return tuple(person_of(connection, each) for each in identifiers)

    @staticmethod
    def _still(person: str, other: str, pair: tuple[str, ...], condition: Check, connection: Connection) -> bool:
        return (person_of(connection, person), person_of(connection, other)) == pair and condition(connection)

    def _linkable(self, who: str | int) -> IdentifierKey:
        key = normalised(who, self._database.region)
        if is_group(key):
            raise InvalidInput(f"{masked(key)} is a group, which is nobody: link what its members write from")
        return key
