"""The package's logs: an event's name, its fields and what to do about it, readable in any formatter.

Records carry the name as `event` and the fields as attributes too. No field holds a message's text or a whole phone.
"""

import logging
from collections.abc import MutableMapping
from typing import Any

from langmem_plugin.terminal import visible

ADVICE = {
    "phone.opaque": "no known kind of identifier: it is taken as it is; check what the channel sends",
    "phone.without_country": "a number of which nothing says the country: set LANGMEM_DEFAULT_REGION, such as IL",
    "people.unresolved": "whose identifier it is could not be asked: it is taken as it was last",
    "people.form_not_settled": "a turn did not end: who has another form of a number is found at the next start",
    "people.too_many_codes": "somebody guesses codes, or mistypes them: they have to wait for ten minutes",
    "merge.instructions_above_limit": "the least important are switched off: the person may remove some",
    "merge.not_restored": "a memory was changed or damaged since: it stays as it is",
    "turn.store_unavailable": "the database could not be reached: the reply goes out without memory",
    "recall.skipped": "nothing was recalled for this reply: see the error before",
    "message.unreadable": "a message that waited for its answer is damaged in the database: it is passed over",
    "reply.failed": "a node raised: see the error; a graph with nodes or tools that can only be awaited needs areply",
    "reply.given_up": "every process that began with this message ended in the middle: look for what ends it",
    "reply.picture_unreadable": "the channel gave what is no picture, or no file: check what it passes as image",
    "reply.breakpoint": "a static breakpoint waits for somebody who resumes the graph: people are asked by interrupt()",
    "reply.no_model": "the model does not answer: check its key, its address and its limits",
    "reply.turn_timeout": "the turn before did not end in time: look for what hangs in it, or raise turn_timeout",
    "reply.turn_lost": "another turn of the conversation began meanwhile: this process may have stood still",
    "reply.not_serializable": "a node returned what cannot be stored: the error names it and what to write",
    "reply.storage_full": "free some space where the database lies",
    "reply.not_confirmed": "it was sent, and may be sent again if the channel delivers the message again",
    "reply.not_kept": "the database failed in the middle of a turn: the person was asked to send the message again",
    "embedding.language_unknown": "pip install 'phone-memory[multilingual]' and set embedding_model to multilingual",
    "embedding.model_changed": "words find what was stored before; it is embedded anew in the background",
    "embedding.retry": "the embedding model failed and is asked again",
    "config.missing": "the file does not say it: its default is used",
    "config.value_ignored": "the value cannot be used: the default is",
    "config.unknown_key": "correct its name or take it out: it has no effect",
    "config.section_ignored": "its settings have their defaults: write it as an object",
    "environment.unknown": "no setting has this name: it has no effect",
    "config.unreadable": "the memory stays off until the file can be read",
    "role.unknown": "it is taken as client: use client or godfather",
    "message.oversized": "one message is above the role's limit of tokens: it is kept",
    "message.naive_timestamp": "an instant without a time zone is taken as UTC",
    "message.image_missing": "there is no such file: its path is kept",
    "media.missing": "the file of a picture is gone: its reference is kept",
    "media.damaged": "the file of a picture is not what was stored: it is not shown",
    "session.damaged": "run `langmem doctor --rebuild`",
    "row.damaged": "a value of the column is not what was stored and is passed over: restore the row from a backup",
    "collection.not_adopted": "its documents stay where they are: they are taken over at the next start",
    "collection.copied": "an older Chroma has left it, and this one changes it: delete the copy when all is there",
    "index.failed": "everything is compared exactly meanwhile: `langmem reindex` makes the index anew",
    "database.folder_open": "everybody may replace the database there: chmod 700, or move it",
    "sweep.failed": "it is tried again at its next time",
    "sweep.clock_jumped": "nothing is archived or deleted until the clock is right: set it, and start again",
    "person.not_read": "their time zone and language are taken as if they had set none",
    "person.not_stored": "the language they write in is noted at their next message",
    "remember.not_embedded": "the embedding model does not answer: the person was asked to try again",
    "remember.not_stored": "the database could not be reached: the person was asked to try again",
    "search.by_words": "the embedding model does not answer: what was asked for is looked up by its words alone",
    "command.unavailable": "the database could not be reached: the person was asked to try again",
    "question.not_read": "the database could not be reached: the message goes to the agent",
    "use.not_noted": "which memories the reply used is not counted; what was said is taken with the next message",
    "use.not_logged": "that somebody looked at a memory is missing in its log: see the error",
    "operations.not_stored": "how long the verbs took is kept until the database can be reached",
    "operations.failed": "a mistake in the counting of latencies: nothing else suffers from it",
    "alert.raised": "look at what slows or fails it; it is cleared when twenty calls in five minutes are well again",
    "erasure.incomplete": "it is gone from all tables; what is left in files is deleted at the next sweep",
    "erasure.index_later": "another process has the vector index open: it deletes the vectors at its next sweep",
    "erasure.file_left": "a file resists: mend its folder's rights; it is tried again at the next sweep",
    "extraction.later": "what was said is read again in some minutes: see the error",
    "extraction.given_up": "it is read when the person goes on, or by memory.extract(phone): see the error",
    "extraction.taken_over": "a process that worked on it was killed or stood still: another goes on",
    "extraction.unavailable": "the database could not be reached: it is looked again in some seconds",
    "extraction.failed": "a mistake in the extraction: the other conversations go on",
    "extraction.model_unusable": "three answers of the model could not be read: nothing is taken from these messages",
    "reconciliation.by_rules_alone": "the model did not say what new facts repeat or replace: doubles may be kept",
    "reconciliation.not_all": "of very many new facts the first are weighed by the model, the others by rules",
    "api.unavailable": "who asked was told to try again: see the error",
    "api.failed": "a mistake in the API: who asked was told no more than that",
    "api.extraction_unfinished": "what was asked for by the API is read again later: see the error",
    "model.offline": "it is for trying out and only picks tools: LANGMEM_MODEL names another model",
    "extraction.fact_refused": "it cannot be stored as it is: it is left out",
}


class EventLog(logging.LoggerAdapter[logging.Logger]):
    """Its methods take an event's name and, as `extra`, the fields."""

    def process(self, msg: str, kwargs: MutableMapping[str, Any]) -> tuple[str, MutableMapping[str, Any]]:
        fields = kwargs.get("extra") or {}
        told = [msg, *(f"{name}={visible(str(value))}" for name, value in fields.items())]
        if advice := ADVICE.get(msg):
            told[-1] += ":"
            told.append(advice)
        return " ".join(told), {**kwargs, "extra": {"event": msg, **fields}}


def event_log(name: str) -> EventLog:
    """The log of a module, by its `__name__`."""
    return EventLog(logging.getLogger(name), {})
