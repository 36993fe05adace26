"""`langmem recall`, `resolve`, `say` and `analytics`: the answers of the memory, and their reasons."""

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langmem_plugin.cli.opening import Where, memory_of, note_read, on, saver_of
from langmem_plugin.cli.printing import Rows, Told, minute
from langmem_plugin.conversation.config_keys import SESSION
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.session_manager import SessionManager
from langmem_plugin.errors import ConfigurationError, InvalidInput
from langmem_plugin.foreign_text import visible
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.insight.analytics import Analytics, Share
from langmem_plugin.memory.find.recall import RELEVANT, explain_for
from langmem_plugin.memory.models import Candidate
from langmem_plugin.references import Resolution
from langmem_plugin.references import resolve as resolve_utterance

if TYPE_CHECKING:
    from langmem_plugin.plugin import PhoneMemory

_MEASURED = ("cosine", "relevance", "bm25", "coverage", "days", "uses", "confidence")
_MOST = 10
_LEFT = 50  # candidates that were left out, shown beside those that were kept


@on(memory_of)
def recall(
    memory: "PhoneMemory",
    question: Annotated[str, typer.Argument(help='what is asked, such as "what is Leo allergic to?"')],
    *,
    phone: Annotated[str, typer.Option("--phone", help="whose memory")],
    limit: Annotated[int | None, typer.Option(min=1, help="default: the setting recall_limit, or 10")] = None,
    min_similarity: Annotated[
        float | None, typer.Option(min=0, max=1, help="default: the setting min_similarity, or 0.7; 0 shows all")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="also what was considered and not kept, with the reason why")
    ] = False,
) -> Told:
    """Search as a reply would, in all that the person may see; the best first, with the numbers behind each."""
    settings = memory.settings
    if not settings.remembers:
        raise ConfigurationError("the long-term memory is switched off by the settings: nothing is recalled")
    note_read(memory.saver, subject="memories", owner=phone)
    owner, most = memory.people.typed(phone), limit or settings.recall_limit or _MOST
    bound = next(each for each in (min_similarity, settings.min_similarity, RELEVANT) if each is not None)
    role, served = memory.person.role(owner), memory.service
    considered = explain_for(served, owner, role, question, limit=most, min_relevance=bound, most=most + _LEFT)
    found = [each for each in considered if everything or each.kept]
    is_answered = any(each.kept for each in found)
    nothing = "" if is_answered else "nothing is similar enough: --min-similarity 0 shows what is nearest"
    results = [_candidate(each, owner) for each in found]
    return Told({"question": question, "results": results}, candidate_tables(found) if found else (), nothing)


@on(saver_of)
def resolve(
    opened: tuple[ConversationSaver, SessionManager],
    utterance: Annotated[str, typer.Argument(help='what was said, such as "save number 2"')],
    *,
    phone: Annotated[str | None, typer.Option(help="in this phone's newest session")] = None,
    session: Annotated[str | None, typer.Option(help="in the session with this id")] = None,
) -> Told:
    """Explain what an utterance refers to, and why."""
    saver, manager = opened
    if (phone is None) == (session is None):
        raise InvalidInput("say where: --phone or --session")
    note_read(saver, subject=session or "sessions", owner=phone)
    chat = phone if phone is not None else manager.session(session or "").whatsapp_chat
    place = {"thread_id": chat, **({SESSION: session} if session else {})}
    found = saver.get_tuple({"configurable": place})
    messages = found.checkpoint["channel_values"].get("messages", []) if found else []
    return _meant(resolve_utterance(utterance, messages))


@on(nullcontext)
def say(
    where: Where,
    phone: Annotated[str, typer.Argument(help="whose memory")],
    command: Annotated[str, typer.Argument(help='a chat command, such as "/memories" or "/remember …"')],
) -> Told:
    """Answer a chat command as the person would get it."""
    settings = where.settings().model_copy(update={"sweep_every": None})
    with memory_of(where, settings=settings) as memory:
        note_read(memory.saver, subject="memories", owner=phone)
        answer = memory.command(phone, command)
    return Told({"answer": answer}, ["that is no chat command: try /help" if answer is None else answer])


@on(memory_of, embeds=False)
def analytics(
    memory: "PhoneMemory",
    phone: Annotated[
        str | None, typer.Argument(help="whose; left out, everybody's: counts alone, and no texts")
    ] = None,
    *,
    days: Annotated[int, typer.Option(min=1, max=366, help="of the growth")] = 30,
    as_json: bool = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="print one table of numbers, for spreadsheets")] = False,
) -> Told | None:
    """How many memories of what kind there are, since when, from where, and which of them are used."""
    if as_json and as_csv:
        raise InvalidInput("say --json or --csv, not both")
    if phone is not None:
        note_read(memory.saver, subject="analytics", owner=phone)
    found = memory.insight.analytics(phone, days=days)
    if as_csv:
        sys.stdout.write(visible(found.to_csv()))
        return None
    return Told(found.to_dict(), _figures(found))


def _candidate(candidate: Candidate, owner: OwnerKey) -> dict[str, Any]:
    return {
        "id": candidate.memory_id,
        "text": candidate.text,
        "similarity": candidate.similarity,
        "score": candidate.score,
        "match": candidate.match_type,
        "kept": candidate.kept,
        "left": candidate.left,
        "shared": candidate.owner != owner,
        "explanation": candidate.explanation.to_dict(),
    }


def candidate_tables(found: Sequence[Candidate]) -> list[str | Rows]:
    """Return the tables of what was found, what was measured of it, and how its score is composed, numbered alike."""
    numbered = list(enumerate(found, 1))
    texts = [(number, f"{each.similarity:.2f}", each.text, each.memory_id) for number, each in numbered]
    measured = [
        (
            number,
            *(_rounded(getattr(each.explanation, name)) for name in _MEASURED),
            each.match_type,
            ", ".join(each.explanation.aliases),
        )
        for number, each in numbered
    ]
    terms = list(dict.fromkeys(name for each in found for name in each.explanation.terms))
    scores = [
        (
            number,
            *(_rounded(each.explanation.terms.get(name), 3) for name in terms),
            _rounded(each.score, 3),
            _rounded(each.explanation.bound),
            each.left or "yes",
        )
        for number, each in numbered
    ]
    return [
        Rows(("no", "similarity", "text", "id"), texts),
        "",
        Rows(("no", *_MEASURED, "match", "aliases"), measured, folded=("aliases",)),
        "",
        Rows(("no", *terms, "= score", "bound", "kept"), scores, folded=("kept",)),
    ]


def _rounded(value: float | None, places: int = 2) -> str:
    return "" if value is None else str(value) if isinstance(value, int) else f"{value:.{places}f}"


def _meant(meant: Resolution) -> Told:
    references, lines, call = [], [], meant.previous_call
    for each in meant.references:
        items = [str(item) for item in each.items]
        references.append({"words": each.words, "reason": each.reason, "items": items})
        lines += [f"“{each.words}” ({each.reason})", *(f"  {item}" for item in items)]
    if meant.question:
        lines.append(f"unclear; ask: {meant.question}")
    if call:
        lines.append(f"revises the call {call.tool}({dict(call.arguments)})")
    document = {
        "references": references,
        "question": meant.question or None,
        "previous_call": None if call is None else {"tool": call.tool, "arguments": dict(call.arguments)},
    }
    return Told(document, lines or ["refers to nothing in this session"])


def _figures(found: Analytics) -> list[str | Rows]:
    summary, asked = found.summary, found.extraction
    rate = "nothing was decided" if asked.approval_rate is None else f"{asked.approval_rate:.0%} confirmed"
    shares: dict[str, tuple[Share, ...]] = {
        "category": found.categories,
        "type": found.fact_types,
        "source": found.sources,
        "state": found.statuses,
    }
    parts = [(kind, each.name, each.count, f"{each.percentage}%") for kind, of in shares.items() for each in of]
    growth = [(f"{each.date}", each.new, each.cumulative) for each in found.growth if each.new]
    used = [
        (each.memory_id, each.access_count, each.uses.cited, minute(each.last_accessed), each.text)
        for each in found.most_used
    ]
    counted = (
        f"{summary.total_memories} memories: {summary.active_memories} active, {summary.pending_memories} waiting, "
        f"{summary.expired_memories} expired; {summary.memories_this_week} of the last 7 days, "
        f"{summary.memories_this_month} of the last 30"
    )
    return [
        counted,
        f"asked {asked.asked} times whether to remember: {rate}, {asked.lapsed} not answered",
        Rows(("", "name", "memories", "share"), parts, folded=("name",)),
        Rows(("day", "new", "in all"), growth),
        Rows(("most used", "times", "cited", "last", "text"), used),
    ]
