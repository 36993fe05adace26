"""Every text that a person gets: the English ones stand here, and each other language is a catalogue of them.

A translator opens translations/he.po with any tool; what is to be translated is the English text. A language has all
of the texts or is not offered at all.

What a model is told stands where it is said (prompt, tools, references), and what the offline model says in offline/.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib import resources
from typing import Any

from babel.messages.pofile import read_po

from langmem_plugin.errors import ConfigurationError


@dataclass(frozen=True)
class Replies:
    """Words in braces are filled in by `format`."""

    # Instead of an answer.
    empty_message: str
    no_model: str
    busy: str
    """The turn before did not end in time."""
    turn_lost: str
    """Another answered meanwhile, or the conversation was deleted."""
    not_storable: str
    not_kept: str
    storage_full: str
    without_memory: str
    """Added to a reply that went out although the memory could not be reached."""
    without_history: str
    """Added to that where the message and its answer are not kept in the conversation either."""

    failed: str
    """A node of the graph raised."""
    too_many_steps: str
    """The graph went on for longer than `STEP_LIMIT` steps."""
    nothing_said: str
    """The graph ended without a word."""
    stopped: str
    """The graph stopped at a breakpoint."""
    picture_unreadable: str
    picture_gone: str
    cannot_open: str
    one_moment: str

    # Questions of the graph.
    approve: str
    approve_or_change: str
    choose: str
    ask_again: str
    ask_first: str
    """The same, where they have asked for something else."""
    asked_another: str
    """In a group, to who was not asked."""

    # Questions about words that point at what was shown.
    which_one: str
    which_of_many: str
    """Names the first of them alone."""
    nothing_shown: str
    """Followed by what it may be instead, where that is known."""

    # Chat commands.
    usage: Mapping[str, str]
    """By command, in the order in which /help lists them."""
    unknown_command: str
    memory_disabled: str
    memory_unavailable: str
    remember_what: str
    remembered: str
    remembered_instead: str
    known_already: str
    no_embedding: str
    not_remembered: str
    memories: str
    no_memories: str
    kinds: Mapping[str, str]
    """The heading above the memories of a fact type."""
    instructions_too: str
    next_page: str
    no_such_page: str
    search_what: str
    searched_words_only: str
    found_memories: str
    found_messages: str
    corrected_since: str
    not_so_any_more: str
    """Beside a message that was said, of which something does not hold any more."""
    found_nothing: str
    speakers: Mapping[str, str]
    """What stands for the person and for the assistant before what they said."""
    forget_what: str
    forgotten: str
    forget_unknown: str
    forget_this: str
    """Asks before it is forgotten."""
    forget_which: str
    forget_more: str
    """Below the ones that are listed."""
    forget_number: str
    forget_changed: str
    nothing_forgotten: str
    undone: str
    nothing_to_undo: str
    remember_this: str
    """Below a reply: asks about what waits for the person's word."""
    remember_instead: str
    """The same, where it takes the place of something else."""
    still_so_this: str
    """Below a reply: asks about what is in doubt."""
    still_so_since: str
    """The same, where it is known what has changed."""
    declined: str
    still_so: str
    no_longer_so: str
    confirm_changed: str
    these_wait: str
    nothing_waits: str
    confirm_how: str
    confirm_number: str
    no_word: str
    all_word: str
    """What to type behind /confirm."""
    export_holds: str
    export_ask: str
    privacy: str
    switched: Mapping[str, str]
    may_i_remember: str
    may_i_remember_sensitive: str
    privacy_on: str
    privacy_off: str
    privacy_only_asked: str
    privacy_unknown: str
    privacy_not_here: str
    page_link: str
    """Below what is remembered, and below what may be: where the person sees all of it."""
    erase_all: str
    """Asks before everything of theirs is deleted."""
    erased_all: str
    erase_later: str
    erase_not_here: str
    restored_all: str
    nothing_to_restore: str
    why_what: str
    why_said: str
    why_sources: Mapping[str, str]
    """Of what has no words of the person's, by source type."""
    why_shared: str
    why_instead_of: str
    why_replaced: str
    why_pending: str
    why_in_doubt: str
    why_recalled: str
    why_used: str
    why_found_by: str
    why_signals: Mapping[str, str]
    instructions: str
    no_instructions: str
    instruction_on: str
    instruction_off: str
    instruction_if: str
    instruction_added: str
    instruction_switched_on: str
    instruction_switched_off: str
    instruction_unknown: str
    instructions_full: str
    instruction_overruled: str
    instruction_no_room: str
    instruction_over: str
    """Its time is past."""
    instruction_priority: str
    instruction_until: str
    instruction_priority_set: str
    instruction_priority_wrong: str
    instruction_which: str
    """Below the list."""
    instruction_noticed: str
    """Below a reply: what was said in plain words is kept."""
    instruction_withdrawn: str
    time_zone: str
    time_zone_set: str
    time_zone_unknown: str
    link_code: str
    link_this: str
    """Asks each side before it is linked."""
    link_there: str
    linked: str
    not_linked: str
    links: str
    link_off: str
    link_parted: str
    link_unknown: str
    linked_lately: str
    link_wrong: str
    link_not_here: str
    told_once: str
    """Below an answer that is given again: what a mask stands for."""
    conversation_cleared: str

    # Below a reply that cites.
    source_of_session: str
    source_on_page: str


ENGLISH = Replies(
    empty_message="I got an empty message. Write me what you need, or /help.",
    no_model="I cannot think right now: the model does not answer. Your message is kept; please try again in a moment.",
    busy="I am still busy with your message before this one. This one is kept: I answer it with your next.",
    turn_lost="Something else went on in this conversation while I was answering. Please send your message again.",
    not_storable="I got something that I cannot work with, so I stopped there. Please ask me in another way.",
    not_kept="⚠️ Memory system temporarily unavailable. Your message could not be kept; please try again in a moment.",
    storage_full="⚠️ Cannot save conversation history - system storage full. Please contact administrator.",
    without_memory="⚠️ Memory system temporarily unavailable. Your message was processed without memory context.",
    without_history="It is not kept in our conversation: please tell me again if it matters later.",
    failed="Something went wrong while I was working on that. Please try again, or say it in another way.",
    too_many_steps="That took me more steps than I may take, so I stopped. Please ask for less at once.",
    nothing_said="I have no answer to that. Please say it in another way.",
    stopped="I have stopped before a step that somebody else has to release.",
    picture_unreadable="I could not open that picture. Please send it again as a JPEG or PNG.",
    picture_gone="The picture is not there any more. Please send it again.",
    cannot_open="I cannot open that kind of message. Please write to me what it says.",
    one_moment="One moment, I am working on it.",
    approve="Shall I do this: {action}? Please answer yes or no.",
    approve_or_change=(
        "Shall I do this: {action}? Please answer yes or no, or tell me what to change, for example “{example}”."
    ),
    choose="{question}\n{options}\nPlease answer with a number.",
    ask_again="I did not understand that. {question}",
    ask_first="First I need your answer: {question}\nThen I see to what you have just written.",
    asked_another="I have asked somebody else here: {question}",
    which_one="Which one do you mean?\n{options}",
    which_of_many="Which one do you mean? For example:\n{options}",
    nothing_shown="Nothing that I have shown you is {words}. Which one do you mean?",
    usage={
        "/remember": "/remember <fact> - I keep it for all our conversations",
        "/memories": "/memories - what I remember for you",
        "/search": "/search <words> - what I remember and what we said about it",
        "/why": "/why <number or words> - who told me, when, and why I said it",
        "/forget": "/forget <id or words> - I forget it",
        "/undo": "/undo - I take the last forgetting back, within ten minutes",
        "/confirm": "/confirm - what I am not sure to have understood, for you to decide",
        "/instructions": "/instructions <text> - I do so from now on; alone, the list; off 2, on 2, delete 2,"
        " priority 2 9 change it",
        "/privacy": "/privacy - what I may remember by myself, on or off; erase deletes everything",
        "/export": "/export - what is stored of you",
        "/timezone": "/timezone <city> - your time zone",
        "/link": "/link - write me from another channel too, as the same person; off parts it again",
        "/reset": "/reset - start this conversation afresh",
        "/help": "/help - this list",
    },
    unknown_command="I do not know {command}. Did you mean {near}? /help lists what I know.",
    memory_disabled="Memory system is disabled",
    memory_unavailable="⚠️ Memory system temporarily unavailable. Please try again.",
    remember_what="What shall I remember? For example: /remember TestCorp owes me ₪5000",
    remembered="✅ Remembered: {fact}",
    remembered_instead="✅ Remembered: {fact} (instead of: {old})",
    known_already="I know that already: {fact}",
    no_embedding="/remember failed: Unable to generate embedding. Please try again.",
    not_remembered="❌ Failed to store memory. Please try again.",
    memories="What I remember ({count}):",
    no_memories="I remember nothing yet. Tell me with /remember <fact>.",
    kinds={
        "preference": "What you like:",
        "decision": "What was decided:",
        "relationship": "People:",
        "project": "Projects:",
        "company": "Companies:",
        "personal": "About you:",
        "strategic": "Plans:",
        "fact": "Facts:",
        "note": "Notes:",
    },
    instructions_too="What you told me to do from now on: /instructions",
    next_page="Page {page} of {pages}. Next: {next}",
    no_such_page="There is no such page. The last one is {pages}.",
    search_what="What shall I search for? For example: /search TestCorp",
    searched_words_only="(by words only, I cannot compare meanings right now)",
    found_memories="I remember:",
    found_messages="We said:",
    corrected_since="(corrected since: {fact})",
    not_so_any_more="(no longer so)",
    found_nothing="I found nothing about “{words}”.",
    speakers={"user": "you", "assistant": "I"},
    forget_what="What shall I forget? /forget <id or words>; /memories shows the ids.",
    forgotten="🗑️ Forgotten: {fact}",
    forget_unknown="I remember nothing like “{words}”. /memories shows what I do.",
    forget_this="Shall I forget this? {fact}\nAnswer yes or no.",
    forget_which="Which one? Answer with its number, or no:",
    forget_more="There are more. Say more exactly which one you mean.",
    forget_number="Answer with a number from 1 to {most}, or no.",
    forget_changed="It has changed meanwhile, so I left it. /memories shows what I remember.",
    nothing_forgotten="All right, I keep it.",
    undone="↩️ I remember again: {fact}",
    nothing_to_undo="I have forgotten nothing in the last ten minutes.",
    remember_this="Shall I remember this: “{fact}”?",
    remember_instead="Shall I remember this: “{fact}”, instead of “{old}”?",
    still_so_this="Is this still so: “{fact}”?",
    still_so_since="You told me: “{change}”. Is this still so: “{fact}”?",
    declined="All right, I do not remember that: {fact}",
    still_so="✅ Still so: {fact}",
    no_longer_so="All right, that is over: {fact}",
    confirm_changed="It has changed meanwhile, so I left it as it is. /memories shows what I remember.",
    these_wait="I am not sure of this ({count}):",
    nothing_waits="Nothing waits for your word.",
    confirm_how="Shall I remember it? {one} for yes, {no} for no, {all} for all.",
    confirm_number="Give me numbers from 1 to {most}, as /confirm lists them.",
    no_word="no",
    all_word="all",
    export_holds=(
        "This is stored of you:\n"
        "Conversations: {sessions}, with {messages} messages and {files} pictures and files\n"
        "Things remembered: {memories}, and {pending} that wait for your word\n"
        "Instructions: {instructions}"
    ),
    export_ask="Whoever runs this service can give you all of it as a file.",
    privacy=(
        "What I remember by myself from what you tell me: {extraction}\n"
        "Personal facts, such as where you live: {personal}\n"
        "Sensitive facts, such as your health: {sensitive}\n"
        "What you ask me to remember I remember always.\n"
        "To change it: /privacy on, /privacy off, /privacy personal off, /privacy sensitive on"
    ),
    switched={"on": "on", "off": "off"},
    may_i_remember="May I remember from now on what you tell me about yourself and yours?"
    " You can change it by /privacy.",
    may_i_remember_sensitive="May I remember sensitive things too that you tell me from now on, such as your health?"
    " You can change it by /privacy.",
    privacy_on="✅ From now on I may remember what you tell me.",
    privacy_off="✅ From now on I remember only what you ask me to. /memories shows what I know, /forget forgets it."
    " To delete everything: /privacy erase",
    privacy_only_asked="Here I take in nothing by myself from what you tell me."
    " What you ask me to remember I remember.",
    privacy_unknown="I did not understand what to switch.",
    privacy_not_here="This can be allowed in a chat with me alone, not in a group.",
    page_link="See and change all of it on your own page: {link}\nThe link works once, within {minutes} minutes.",
    erase_all="Shall I delete everything of yours: what we said, what I remember, your settings and your links to other"
    " channels? Answer yes or no. Until {date} you could take it back.",
    erased_all="🗑️ Everything of yours is deleted. Until {date} you can take it back by /privacy restore; after that it"
    " is gone for good.",
    erase_later="I am just working on a message of yours. Write /privacy erase again when I have answered it.",
    erase_not_here="What was said in a group is the group's: I cannot delete it for one of you.",
    restored_all="↩️ Everything is there again.",
    nothing_to_restore="There is nothing that I could take back.",
    why_what="What shall I explain? /why 1 explains the first of /memories, /why TestCorp what I know about that.",
    why_said="You said on {date}: “{quote}”",
    why_sources={
        "manual": "It was entered on {date}.",
        "command": "You asked me on {date} to remember it.",
        "extracted_from_chat": "It is from our conversation on {date}.",
        "extracted_from_document": "It is from a document, on {date}.",
        "api_import": "It was brought in from elsewhere on {date}.",
    },
    why_shared="It is shared with you.",
    why_instead_of="Until {date} it was: {old}",
    why_replaced="Now it is: {new}",
    why_pending="You have not confirmed it yet: /confirm",
    why_in_doubt="Something it rests on has changed on {date}, so I am not sure of it.",
    why_recalled="I thought of it last on {date}: it fitted what we were talking about by {percent} %.",
    why_used="I thought of it last on {date}, because it is new or often needed.",
    why_found_by="It fits your words {signals}.",
    why_signals={"text": "by the words themselves", "semantic": "by their meaning"},
    instructions="From now on:",
    no_instructions="You have given me no standing instructions. For example: /instructions answer in short",
    instruction_on="{number}. {text}",
    instruction_off="{number}. (off) {text}",
    instruction_if="if {condition}: {text}",
    instruction_added="✅ From now on: {text}",
    instruction_switched_on="✅ On again: {text}",
    instruction_switched_off="✅ Switched off: {text}",
    instruction_unknown="There is no number {number}. /instructions lists them; /instructions off 1 switches one off.",
    instructions_full="There is no room for another standing instruction. /instructions lists those there are.",
    instruction_overruled="{number}. (overruled by {by}) {text}",
    instruction_no_room="{number}. (left out, no room) {text}",
    instruction_over="{number}. (over) {text}",
    instruction_priority="{text} (priority {priority})",
    instruction_until="{text} (until {date})",
    instruction_priority_set="✅ Priority {priority} of 10: {text}",
    instruction_priority_wrong="A priority is a number from 1 to 10, and 10 wins. For example:"
    " /instructions priority 2 9",
    instruction_which="Which one? For example: /instructions delete 2",
    instruction_noticed="📌 Noted: from now on, {text}. {command} to change it.",
    instruction_withdrawn="📌 Noted: no longer, {text}. {command} to change it.",
    time_zone="Your time zone is {zone}, where it is {time}. To change it: /timezone Madrid",
    time_zone_set="✅ Your time zone is {zone}, where it is {time}.",
    time_zone_unknown="I know no time zone “{name}”. Send a city or a name, such as /timezone Jerusalem or"
    " /timezone Europe/Madrid. An offset such as +2 would be wrong in summer or in winter.",
    link_code="Give this code to nobody: who texts it and you become one person. Write me it from your other channel"
    " within ten minutes: /link {code}",
    link_this="Shall this channel and {channel} be one person's? All of yours can then be read and changed there"
    " (remembered: {memories}, conversations: {sessions}, instructions: {instructions}). Answer yes only if {channel}"
    " is yours too, else no.",
    link_there="Almost: write {link} in {channel}. I ask there too, within ten minutes.",
    linked="✅ Both channels are yours: what I know in one I know in the other. To take it back: {off}",
    not_linked="All right, nothing is linked.",
    links="Your channels:",
    link_off="To part one again: {off}",
    link_parted="✅ {channel} is parted from your other channels.",
    link_unknown="There is no such channel of yours.",
    linked_lately="A channel was linked to you less than a day ago. Until a day is over I delete and export nothing."
    " If it is not yours: {off}",
    link_wrong="This code is wrong, or its ten minutes are over. /link in the other channel gives a new one.",
    link_not_here="Channels are linked in a chat with me alone, not in a group.",
    told_once="(••• was told once and is not kept with an answer. Ask again for a new code or link.)",
    conversation_cleared="🔄 Conversation history cleared. Starting fresh!",
    source_of_session="{source} of session {session}",
    source_on_page="{source}, page {page}",
)

_CATALOGUES = resources.files("langmem_plugin.agent") / "translations"


@lru_cache(maxsize=8)
def replies_in(language: str) -> Replies:
    """The texts in a language of two letters. Raises ConfigurationError where one is missing."""
    if language == "en":
        return ENGLISH
    with (_CATALOGUES / f"{language}.po").open("rb") as file:
        known = {
            message.id: message.string
            for message in read_po(file, locale=language)
            if message.string and not message.fuzzy
        }

    def translated(text: Any) -> Any:
        if isinstance(text, Mapping):
            return {name: translated(each) for name, each in text.items()}
        if text not in known:
            raise ConfigurationError(f"translations/{language}.po lacks {text!r}: add it")
        return known[text]

    return Replies(**{field.name: translated(getattr(ENGLISH, field.name)) for field in fields(Replies)})
