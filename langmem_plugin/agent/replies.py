"""Every text that a person gets, as one table per language: a translation is another table, complete or not at all.

English is the only one so far, and nothing selects another yet.

What a model is told stands where it is said (prompt, tools, references), and what the offline model says in offline/.
"""

from collections.abc import Mapping
from dataclasses import dataclass


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

    failed: str
    """A node of the graph raised."""
    nothing_said: str
    """The graph ended without a word."""
    stopped: str
    """The graph stopped at a breakpoint."""
    picture_unreadable: str

    # Questions of the graph.
    approve: str
    approve_or_change: str
    choose: str
    ask_again: str

    # Chat commands.
    usage: Mapping[str, str]
    """By command, in the order in which /help lists them."""
    unknown_command: str
    memory_disabled: str
    memory_unavailable: str
    remember_what: str
    remembered: str
    no_embedding: str
    not_remembered: str
    memories: str
    no_memories: str
    search_what: str
    searched_words_only: str
    found_memories: str
    found_messages: str
    found_nothing: str
    speakers: Mapping[str, str]
    """What stands for the person and for the assistant before what they said."""
    forget_what: str
    forgotten: str
    forget_unknown: str
    forget_which: str
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
    failed="Something went wrong while I was working on that. Please try again, or say it in another way.",
    nothing_said="I have no answer to that. Please say it in another way.",
    stopped="I have stopped before a step that somebody else has to release.",
    picture_unreadable="I could not open that picture. Please send it again as a JPEG or PNG.",
    approve="Shall I do this: {action}? Please answer yes or no.",
    approve_or_change=(
        "Shall I do this: {action}? Please answer yes or no, or tell me what to change, for example “{example}”."
    ),
    choose="{question}\n{options}\nPlease answer with a number.",
    ask_again="I did not understand that. {question}",
    usage={
        "/remember": "/remember <fact> - I keep it for all our conversations",
        "/memories": "/memories - what I remember for you",
        "/search": "/search <words> - what I remember and what we said about it",
        "/forget": "/forget <id or words> - I forget it",
        "/reset": "/reset - start this conversation afresh",
        "/help": "/help - this list",
    },
    unknown_command="I do not know {command}. Did you mean {near}? /help lists what I know.",
    memory_disabled="Memory system is disabled",
    memory_unavailable="⚠️ Memory system temporarily unavailable. Please try again.",
    remember_what="What shall I remember? For example: /remember TestCorp owes me ₪5000",
    remembered="✅ Remembered: {fact}",
    no_embedding="/remember failed: Unable to generate embedding. Please try again.",
    not_remembered="❌ Failed to store memory. Please try again.",
    memories="I remember:",
    no_memories="I remember nothing yet. Tell me with /remember <fact>.",
    search_what="What shall I search for? For example: /search TestCorp",
    searched_words_only="(by words only, I cannot compare meanings right now)",
    found_memories="I remember:",
    found_messages="We said:",
    found_nothing="I found nothing about “{words}”.",
    speakers={"user": "you", "assistant": "I"},
    forget_what="What shall I forget? /forget <id or words>; /memories shows the ids.",
    forgotten="🗑️ Forgotten: {fact}",
    forget_unknown="I remember nothing like “{words}”. /memories shows what I do.",
    forget_which="Which one? Send /forget with its id:",
    conversation_cleared="🔄 Conversation history cleared. Starting fresh!",
    source_of_session="{source} of session {session}",
    source_on_page="{source}, page {page}",
)
