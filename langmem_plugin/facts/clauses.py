"""Where in a sentence a fact may stand: not in a question, an idea, another's words or a quotation."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from langmem_plugin.facts.grammar import begins
from langmem_plugin.facts.tokens import Sentence, Token
from langmem_plugin.languages.language import Language, words

_QUOTES: Final = frozenset('"“”„«»')
_LONGEST_QUOTED: Final = 60
_SINGLE: Final = frozenset("'‘’")
_OPENS: Final = words(
    "can|could|should|do|did|would|will|may|shall|must|that|which|who|what|how|where|when|if|than|as|whose|whom|before|once|why|cuando|que|quien|donde|como|si"
)
_AUTOMATED: Final = (
    "unsubscribe",
    "do not reply",
    "don't reply",
    "noreply",
    "no-reply",
    "verification code",
    "one-time code",
    "dear customer",
    "dear user",
    "estimado cliente",
    "estimada clienta",
    "no responda",
    "codigo de verificacion",
    "לקוח יקר",
    "לקוחה יקרה",
    "אין להשיב",
    "קוד האימות",
    "להסרה",
    "your order",
    "your parcel",
    "your package",
    "tu pedido",
    "su pedido",
    "auto-generated",
    "automated message",
    "[bot]",
    "terms and conditions",
)
_COMMANDED = re.compile(
    r"\b(?:ignore|disregard|forget|override) (?:(?:all|any|the|your|of|every) ){0,3}(?:previous|prior|above|earlier|preceding|system) "
    r"|\b(?:ignora|olvida|descarta) (?:(?:todas|las|tus|todo) ){0,3}(?:instrucciones|reglas|ordenes)"
    r"|(?:התעלם|התעלמי|תתעלם|תתעלמי|תשכח|תשכחי) (?:מכל )?מ?(?:ה?הוראות|ה?הנחיות)"
)  # words made to be obeyed, not told of oneself
_INVENTED = re.compile(
    r"\b(?:my|our|the|his|her|main|mi|el|la) (?:novel|story|character|protagonist|screenplay|campaign|novela|cuento|personaje|protagonista)\b"
    r"|(?:ה|ב|ל)(?:דמות|רומן|סיפור|גיבור(?:ה)?+)(?!\w)"
)
_FORWARDED: Final = ("fwd:", "fw:", "forwarded", "reenviado", "rv:", ">", "הועבר", "from:", "subject:", "-----")
# Who is quoted when one of these stands before a colon, unless it is one's own.
_TEXTS: Final = words(
    "ad|advert|song|chorus|lyrics|poem|post|article|email|letter|text|script|book|review|quote|tweet|caption|profile|chat|screenshot"
    "|anuncio|cancion|letra|poema|articulo|correo|carta|guion|libro|resena|cita|perfil|chat|captura"
    "|המודעה|מהמודעה|מודעה|השיר|מהשיר|שיר|הפוסט|מהפוסט|המכתב|הספר|מהספר|הכתבה|מהכתבה|המייל|מהמייל|הציטוט"
)
_TAG: Final = 3  # words at most of "…, right?": what stands ahead of more is told, not asked
_DETERMINERS: Final = words("the|this|that|these|those|every|any")
_OWN: Final = words("my|our|mi|mis|nuestro|nuestra")
_AS_ANOTHER: Final = words(
    "translate|say|proofread|pretend|act|roleplay|paraphrase|summarize|traduce|traduceme|resume|תרגם|תרגמי|תתרגם|תתרגמי"
)
_TO_US: Final = words("me|us|you|me|nos|te|לי|לנו|לך|לכם")
_SARCASM: Final = frozenset("🙄🙃")


def is_automated(said: str) -> bool:
    """Something passed on or sent by a machine, not a person's own words. `said` is plain."""
    return (
        said.lstrip().startswith(_FORWARDED)
        or any(sign in said for sign in _AUTOMATED)
        or bool(_COMMANDED.search(said))
    )


def is_invented(said: str) -> bool:
    """Whether a text is about people who are made up: "my character is …", "too silly for my story?"."""
    return _INVENTED.search(said) is not None


def unquoted(found: Sequence[Sentence]) -> Iterator[Sentence]:
    """The sentences without what stands in quotation marks."""
    inside = False
    for sentence in found:
        kept: list[Token] = []
        for at, token in enumerate(sentence.tokens):
            if token.written in _QUOTES or (token.written in _SINGLE and _is_quote(sentence.tokens, at, inside)):
                inside = not inside
            elif not inside:
                kept.append(token)
        if kept:
            yield Sentence(tuple(kept), sentence.asked)
        if not sentence.asked and len(sentence.tokens) > 1:
            inside = inside and sentence.tokens[-1].written not in _QUOTES


def _is_quote(tokens: Sequence[Token], at: int, inside: bool) -> bool:
    """Whether a single mark opens or ends a quotation, and is no apostrophe: "goes 'I live in …'", not "the kids' room"."""
    alone = at == 0 or tokens[at - 1].end < tokens[at].start
    if inside:
        return not alone
    quoted = range(at + 2, min(at + _LONGEST_QUOTED, len(tokens)))
    return alone and any(tokens[to].written in _SINGLE and tokens[to - 1].end == tokens[to].start for to in quoted)


def is_joke(tokens: Sequence[Token], language: Language) -> bool:
    return any(token.plain in language.jokes or token.written in _SARCASM for token in tokens) or any(
        begins(tokens, at, language.sarcasm) for at in range(min(len(tokens), 3))
    )


def stated_until(sentence: Sentence, language: Language, *, noted: bool = False) -> tuple[int, int]:
    """The part of a sentence in which something is stated: from where, and until where."""
    tokens = sentence.tokens
    start, end = 0, len(tokens)
    for at, token in enumerate(tokens):
        if (
            (token.plain in language.reported and not (at and tokens[at - 1].plain == "me"))  # "todos me dicen Chayo"
            or _is_idea(tokens, at, language)
            or (not noted and _is_message(tokens, at, language))
        ):
            end = at
            break
    if not noted:
        end = min(end, next((at for at in range(1, end) if tokens[at].plain == ":" and _is_source(tokens[:at])), end))
    at = after_leads(tokens, 0, language)
    if at < len(tokens) and _quoted_after(tokens, end, language):
        return len(tokens), len(tokens)
    if at < len(tokens) and tokens[at].plain in language.composing:
        start = next((place + 1 for place in range(at, end) if tokens[place].plain in (",", ":")), len(tokens))
        if tokens[at].plain in _AS_ANOTHER or start >= end:
            return len(tokens), len(tokens)
    if at < len(tokens) and not noted and _asks(tokens, at, language):
        start = next((place + 1 for place in range(at, len(tokens)) if tokens[place].plain in (",", ":")), len(tokens))
    if sentence.asked:
        asked = [at for at in starts(tokens, start, language) if at < len(tokens) and _asks(tokens, at, language)]
        if not asked:
            end = min(
                end, max((at for at in range(start, len(tokens) - _TAG) if tokens[at].plain == ","), default=start)
            )
        else:
            end = min(end, asked[-1]) if asked[-1] > start else start
    return start, end


def starts(tokens: Sequence[Token], first: int, language: Language) -> Iterator[int]:
    """Where a clause may begin."""
    for at in range(first, len(tokens)):
        before = tokens[at - 1] if at > first else None
        if (
            before is None
            or not before.word
            or before.plain in language.joins
            or (
                tokens[at].plain in ("i", "we")
                and before.plain not in _OPENS
                and before.plain not in language.articles
                and not _is_relative(tokens, at, language)
            )
            or (before.plain in ("that", "que", "ש") and at - first <= 4)
        ):
            yield at


def _is_source(before: Sequence[Token]) -> bool:
    """As in "pasted from the ad: I am …", "the song goes: …", "copio del anuncio: soy …"."""
    said = [token.plain for token in before]
    return any(word in _TEXTS and said[at - 1] not in _OWN for at, word in enumerate(said) if at)


def _is_relative(tokens: Sequence[Token], at: int, language: Language) -> bool:
    """As in "the things I always push aside"."""
    named = at > 1 and tokens[at - 2].plain in _DETERMINERS
    return named and tokens[at - 1].plain not in language.periods | language.weekdays.keys()


def _quoted_after(tokens: Sequence[Token], at: int, language: Language) -> bool:
    """As in "My name is Bob, he said"."""
    said = at < len(tokens) and at > 1 and tokens[at].plain in language.reported
    return said and tokens[at - 1].plain in language.others and tokens[at - 2].plain == "," and at + 2 >= len(tokens)


def _is_message(tokens: Sequence[Token], at: int, language: Language) -> bool:
    """As in "tell Dana I'm not allergic": words to pass on to somebody."""
    verb, rest = tokens[at].plain, tokens[at + 1 : at + 5]
    if not rest or rest[0].plain in _TO_US or not (verb in language.passing_on or verb in language.writing_to):
        return False
    if language.name == "he":
        return rest[0].plain == "ש" or (rest[0].plain[:1] == "ל" and len(rest[0].plain) > 2)
    if verb in language.passing_on:
        return rest[0].word
    return any(token.plain in language.selves or token.plain in ("that", "que", ":") for token in rest)


def _is_idea(tokens: Sequence[Token], at: int, language: Language) -> bool:
    used = begins(tokens, at, language.conditional)
    if not used or tokens[at].written.casefold() == "sí":
        return False
    following = tokens[at + used].plain if at + used < len(tokens) else ""
    return following not in ("rather", "prefer", "like", "love")


def _asks(tokens: Sequence[Token], at: int, language: Language) -> bool:
    word = tokens[at]
    if word.plain not in language.questions:
        return False
    if word.plain in ("do", "can") and [token.plain for token in tokens[at + 1 : at + 2]] == ["not"]:
        return tokens[at + 2 : at + 3] == () or tokens[at + 2].plain in ("you", "we", "they")
    if word.plain == "יש":
        return tokens[at + 1 : at + 2] != () and tokens[at + 1].plain not in ("לי", "לנו")
    if word.plain in ("como", "que", "es", "cuando", "quien", "donde") and word.written == word.plain:
        return at + 1 < len(tokens) and word.plain not in ("como", "es")
    return True


def after_leads(tokens: Sequence[Token], at: int, language: Language) -> int:
    """Past the words that only lead up to a clause: "and", "btw", "remember that"."""
    while at < len(tokens):
        used = max(begins(tokens, at, language.leads), begins(tokens, at, language.remember))
        if used == 1 and (tokens[at].plain in language.negations or tokens[at].plain == "no"):
            following = tokens[at + 1] if at + 1 < len(tokens) else None
            if (
                following is not None
                and following.word
                and following.plain not in language.selves | language.possessives
            ):
                break
        if not used and tokens[at].word:
            break
        at += used or 1
    return at
