"""Guards against facts that must not be believed: they hold for a chat model as for the reader without one.

A reader gives facts with the words they are from; each guard looks at those words where they stand in the message.
"""

import re
from datetime import date
from difflib import SequenceMatcher
from functools import cache
from typing import Final

from langmem_plugin.facts.attributes import GROUPS
from langmem_plugin.facts.negation_and_modality import NUMBER, STEM, Claim, Stated, same
from langmem_plugin.facts.sensitive_facts import is_sensitive
from langmem_plugin.facts.value_comparison import bare, flat, is_number, names, numbers, words_of
from langmem_plugin.languages.language_words import LANGUAGES, words
from langmem_plugin.languages.text_normalization import LONGEST_KEPT, is_hebrew, plain
from langmem_plugin.lru_cache import cached_if_short

_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++(?=\s|$)|\n")
_CLAUSE_END = re.compile(r"[,;:()\n–—]|(?<![.!?…])[.!?…]++(?=\s|$)")
_QUOTED = re.compile(r"\"[^\"]*\"|(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w))*+'(?!\w)")
_ALIKE: Final = 0.75
_LONGEST_CORRECTION: Final = 8  # words
_LONGEST_BARE_CORRECTION: Final = 2  # words of a correction that shares no number and no name with what it corrects
ANOTHERS: Final = "may be another's words"
A_JOKE: Final = "may be a joke"
_YEARS_NEAR: Final = range(-1, 4)
_NO: Final = frozenset(("no", "nope", "nah", "לא"))
IDLE: Final = frozenset(word for each in LANGUAGES for word in each.idle_in_values | each.articles)
_KEPT: Final = 256
_LONGEST_LABEL: Final = 48
_MOST_LABEL_WORDS: Final = 4
_LONGEST_WRITTEN_SMALL: Final = 2  # words of a name that has no capital letters
_WORD = re.compile(r"[^\W\d_]++(?:['\"’.-][^\W\d_]++)*+")
_MARKUP: Final = " \t-*•_~\"'“«\u200e\u200f"
_STAMP = re.compile(
    r"[\[(]?+(?:\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}(?:,?\s\d{1,2}:\d{2}(?::\d{2})?+)?+|\d{1,2}:\d{2}(?::\d{2})?+)"
    r"(?:\s?+[ap]\.?m\b\.?)?+\s?+[\])]?+[\s\u200e\u200f,~–—-]{0,8}+",
    re.IGNORECASE,
)
_SIGNED_ABOVE = re.compile(  # "Dana Levi  10:32 AM", "Dana — today at 10:32"
    r"[^\W\d_][^\d\n:,.!?]{0,40}\s(?:\[|\()?\d{1,2}:\d{2}(?::\d{2})?+(?:\s?[ap]m)?[\])]?+", re.IGNORECASE
)
_FENCE: Final = "```"
_TICKED = re.compile(r"(?<!\w)`[^`\n]++`")
_CODE_STARTS: Final = ("//", "/*", "*/", "--", "# ", "#!", "<!", "<?", ">", "$ ", ">>>", "{", "}")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}+>")
_QUERY = re.compile(
    r"(?i)^(?=.*[;'\"=*$])(select .+ from|insert into|update \S+ set|delete from|(alter|create|drop) table)"
)
_CALL = re.compile(r"\w\(\s?['\"]|\w\s?:?=\s?['\"]|=>|^[^'\"=]*+['\"=].*[)}\]];$")
_ME: Final = words("me|myself|i|yo|אני|אנחנו")
_OWN_LABELS: Final = frozenset(word for each in LANGUAGES for word in each.own_labels)
_TOLD: Final = [
    *(phrase for each in LANGUAGES for phrase, meant in each.attributes.items() if meant not in GROUPS["serving"]),
    *(phrase for each in LANGUAGES for phrase in (*each.leads, *each.remember)),
]
_LABELS: Final = frozenset(word for phrase in _TOLD for word in phrase)
_SINGLE: Final = frozenset(phrase[0] for phrase in _TOLD if len(phrase) == 1)
_INNER: Final = frozenset(
    word
    for each in LANGUAGES
    for word in each.common | each.fillers | each.selves | each.possessives | each.negations | each.articles
) - frozenset(word for each in LANGUAGES for word in each.others)


def unbelieved(stated: Stated, said_on: date, *, heard: str = "", following: str = "") -> str | None:
    """Return the reason why a claim is not believed, None where nothing speaks against it.

    `said_on` is the person's own day. `heard` is what else was said to which the fact may refer by name: the
    question that was answered, the person's own messages before it; `following` is the person's next message, which
    may take this one back.
    """
    claim, message = stated.claim, stated.message
    return (
        ("asked not to keep it" if asks_not_to_keep(message) or _refuses_last(following) else None)
        or _foreign(claim, message)
        or ("leaves out that it is not so" if stated.is_denied() else None)
        or _taken_back(claim, message, following)
        or _unsaid(claim.text, message, f"{stated.said} {heard}", said_on)
    )


def doubted(stated: Stated) -> str | None:
    """Return the reason why a fact is not sure, None where its sentence plainly says it."""
    if mocks(stated.message) or _is_laughed_at(stated):
        return A_JOKE
    if stated.at >= len(stated.clause):
        return None  # a yes, which is judged with its question
    return (
        ("may be a question" if stated.is_asked() else None)
        or ("hangs on something else" if stated.hangs() else None)
        or ("may hold another's number" if stated.counts_another() else None)
        or (ANOTHERS if stated.is_dictated() or stated.is_embedded() else None)
        or ("may be about somebody else" if stated.claim.about_speaker and not stated.is_own() else None)
        or ("is told as what was or will be" if stated.is_told_as_less() else None)
    )


def asks_not_to_keep(message: str) -> bool:
    """Tell whether the person asks that their words are not remembered: "don't save this", "no lo
    guardes", "אל תשמור".
    """
    return _found("keeps_not", message) is not None


def corrects(message: str) -> bool:
    """Tell whether the message may take back what the same person said just before: "sorry i meant 8",
    "*Bath", "not me".
    """
    return bool(_is_correction(message) or _contrast(message) or _found("not_me", message)) or _refuses_last(message)


def is_corrected(fact: str, quote: str, following: str) -> bool:
    """Tell whether the message after the quote takes the fact back."""
    return _taken_back(Claim(fact, quote), quote, following) is not None


def mocks(message: str) -> bool:
    """Tell whether irony or mockery is said with it: then nothing in it is meant."""
    return _found("mocks", message) is not None


def _is_laughed_at(stated: Stated) -> bool:
    """Tell whether a laugh follows the fact itself, or people laugh twice; one that opens the message is friendly."""
    laughs = [found.start() for found in _pattern("laughs").finditer(flat(stated.message))]
    if not laughs:
        return False
    told = (token.end for token in stated.tokens if any(same(token.plain, held) for held in stated.told))
    return len(laughs) > 1 or laughs[0] >= max(told, default=0)


def is_automated(message: str) -> bool:
    """Tell whether the text was passed on, sent by a machine, or made to be obeyed, and is no person's own."""
    return _found("automated", message) is not None


def sensitive_beyond(text: str, quote: str, marked: bool) -> bool:
    """Tell whether a fact is sensitive: its reader says so, or the tables do, of the fact or of its words."""
    return marked or is_sensitive(text) or is_sensitive(quote)


def _foreign(claim: Claim, message: str) -> str | None:
    """Return the reason where the words are foreign: pasted, cited in quotation marks, or made up for a play."""
    said, quote = flat(message), flat(claim.quote)
    start = max(said.find(quote), 0)
    end = start + len(quote)
    if quote and " ".join(quote.split()) not in " ".join(flat(own_words(message)).split()):
        return "is pasted"
    for found in _QUOTED.finditer(said):
        if found.start() <= start and end <= found.end() and len(quote.split()) > 1:
            return "is cited"
    return "is made up" if _pattern("plays").search(said[:end]) else None


def _taken_back(claim: Claim, message: str, following: str) -> str | None:
    """Return the reason where the same breath, or the next message, takes back the value that the claim holds."""
    is_short = len(following.split()) <= _LONGEST_CORRECTION
    text, quote = flat(message), flat(claim.quote)
    start = max(text.find(quote), 0)
    if _found("jokes", text[start + len(quote) :]) or (is_short and _found("jokes", following)):
        return "was taken back"
    capitals = {flat(word) for word in re.findall(r"\w++", f"{message} {following}") if any(map(str.isupper, word))}
    following = flat(following)
    if claim.about_speaker and is_short and _found("not_me", following):
        return "is about somebody else"
    if _is_correction(following) or _contrast(following):
        if any(same(word, held) for word in _contrast(following) for held in words_of(claim.text)):
            return "was corrected"
        text = f"{text}\n{following}"
    for found in _correcting().finditer(text):
        if found.end() <= start or _pattern("idle").match(text, found.start()):
            continue
        old, new = text[: found.start()], _replacement(text, found)
        bare_no = found.group() in _NO
        gone = [] if _pattern("idle").match(new) else _given_up(old, new, capitals, only_alike=bare_no)
        if gone and any(same(word, held) for word in gone for held in words_of(claim.text)):
            return "was corrected"
    return None


def _replacement(text: str, found: re.Match[str]) -> str:
    """Return the words that a correcting word puts in place of others: those after it, or before it at
    a sentence's end.
    """
    ended = _SENTENCE_END.search(text, found.end())
    after = text[found.end() : ended.start() if ended else len(text)].strip(" ,:;-")
    before = text[: found.start()].rstrip(" ,")
    start = max((end.end() for end in _CLAUSE_END.finditer(before)), default=0)
    before = before[start:].strip()
    if after and not (before and is_number(before) and len(words_of(before)) == 1):
        return _CLAUSE_END.split(after)[0]
    return before


def _given_up(old: str, new: str, capitals: set[str], *, only_alike: bool) -> list[str]:
    """Return the values of `old` that `new` stands for: its last number, its last name, or else its last word, with
    `only_alike` where both begin alike: "al polen, no, al polvo".
    """
    told = words_of(new)
    if not told or len(told) > _LONGEST_CORRECTION:
        return []
    start = max((end.end() for end in list(_SENTENCE_END.finditer(old.rstrip(" .!?…\n")))[-1:]), default=0)
    idle = IDLE | _NO | set(told)
    last, every = ([word for word in words_of(part) if word not in idle] for part in (old[start:], old))
    before = last or every
    gone = []
    for is_one in (is_number, capitals.__contains__):
        ours, theirs = [word for word in told if is_one(word)], [word for word in before if is_one(word)]
        if ours and theirs:
            gone += [theirs[-1]]
    if not gone and len([word for word in told if word not in IDLE]) <= _LONGEST_BARE_CORRECTION and before:
        written_on = is_hebrew(new[:1]) and new[0] in "בלמה" and before[-1][0] == new[0]
        alike = written_on or told[0] in words_of(old)
        gone = [before[-1]] if alike or not only_alike else []
    return [word for word in gone if not any(same(word, each) for each in told)]


def _contrast(message: str) -> list[str]:
    """Return the names that a short message denies: the "Levi" of "It's not Levi, it's Cohen"."""
    said = flat(message)
    if len(said.split()) > _LONGEST_CORRECTION:
        return []
    found = re.match(
        r"(?:no,? )?(?:it'?s |he'?s |she'?s |that'?s |is |i'?m )?(?:not|no es|no soy|no|לא) ([^\W\d_]+|\d+)[,.;]? (?:it'?s |but |es |soy |sino |אלא )?\w",
        said,
    )
    turned = re.fullmatch(r"[^\W_]++,? (?:not|y no|ולא) ([^\W_]++)[.!]*+", said)  # "7 not 6"
    return [each[1] for each in (found, turned) if each]


def _is_correction(message: str) -> bool:
    """Tell whether the message is short, and begins or ends as a correction does."""
    said = flat(message).strip()
    if not said or len(said.split()) > _LONGEST_CORRECTION + 2:
        return False
    found = list(_correcting().finditer(said))
    if not found:
        return False
    opening = words_of(said[: found[0].start()])  # "no sorry 21", "35, sorry"
    return all(is_number(word) or word in _NO for word in opening) or not said[found[-1].end() :].strip(" .!?")


@cache
def _correcting() -> re.Pattern[str]:
    words = "|".join(each.guards["corrects"] for each in LANGUAGES)
    return re.compile(rf"(?:^|(?<=\n))\*(?=\w)|(?<!\w)(?:{words})(?:[ ,]+(?:{words}))*(?!\w)")


def _refuses_last(following: str) -> bool:
    return asks_not_to_keep(following) and len(following.split()) <= _LONGEST_CORRECTION


def _unsaid(fact: str, message: str, evidence: str, said_on: date) -> str | None:
    """Return the reason where the fact holds a number or a name that nobody said.

    A day may be counted from when it was said, where a time was named.
    """
    evidence = flat(evidence)
    stated = numbers(evidence)
    plain = flat(fact).replace(said_on.isoformat(), " ")
    for found in NUMBER.finditer(plain):
        if not (numbers(found.group()) & stated) and not (
            _of_a_date(plain, found, said_on, evidence) and _names_time(evidence)
        ):
            return "holds a number that was not said"
    if not numbers(NUMBER.sub(" ", plain)) <= stated | {"1"}:
        return "holds a number that was not said"
    told = frozenset(words_of(f"{message} {evidence}"))
    strange = any(not any(_alike(name, word) for word in told) for name in names(fact) - told)
    return "holds a name that was not said" if strange else None


def _of_a_date(fact: str, found: re.Match[str], said_on: date, evidence: str) -> bool:
    """Tell whether it is a year, a number beside a month, or a part of a written date."""
    around = (
        words_of(fact[max(0, found.start() - 12) : found.start()])[-2:]
        + words_of(fact[found.end() : found.end() + 14])[:2]
    )
    written = found.group()
    if any(mark in written for mark in ",:"):
        return False
    if len(written) == len("2026"):
        year = int(written) - said_on.year
        return year in _YEARS_NEAR or (year < 0 and _pattern("since", r"(?!\w)").search(evidence) is not None)
    if re.search(r"\d-$", fact[: found.start()]) or re.match(r"-\d", fact[found.end() :]):
        return True
    months = {word for each in LANGUAGES for word in each.months}
    return len(written) <= 2 and any({word, bare(word)} & months for word in around)


@cache
def times() -> frozenset[str]:
    """Return the words of a time that a day is counted by."""
    named = {word for each in LANGUAGES for cells in each.times.values() for cell in cells for word in cell}
    return frozenset(named | {name for each in LANGUAGES for name in (*each.months, *each.weekdays)}) - IDLE - {"from"}


def _names_time(text: str) -> bool:
    told = words_of(text)
    return (
        any(word in times() or bare(word) in times() for word in told)
        or _pattern("when", r"(?!\w)").search(text) is not None
        or re.search(r"\d[/.-]\d|\d(?:st|nd|rd|th)\b|\b(?:el|del) \d|ב-?\d", text) is not None
    )


def _alike(name: str, word: str) -> bool:
    """Tell whether the two are the same name, but for how it is typed."""
    if bare(name) == bare(word) or word.startswith(name) or (name.startswith(word) and len(word) >= STEM):
        return True
    return len(name) >= STEM and SequenceMatcher(None, name, word).ratio() >= _ALIKE


def _found(kind: str, message: str) -> re.Match[str] | None:
    return _pattern(kind).search(flat(message))


@cache
def _pattern(kind: str, more: str = "") -> re.Pattern[str]:
    """Return a pattern of the words of one kind of every language: people mix them."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(each.guards[kind] for each in LANGUAGES)}){more}")


@cached_if_short(_KEPT, LONGEST_KEPT)
def own_words(text: str) -> str:
    """Return `text` with spaces in place of what is not the writer's own, so that every word keeps its place."""
    kept: list[str] = []
    fenced = theirs = False
    lines = text.split("\n")
    signed = sum(bool(line.strip()) for line in lines) > 1  # "never before 9:30" alone is not the header of a message
    chat = sum(_speaker(line, signed=signed) is True for line in lines) > 1
    for line in lines:
        fence = line.lstrip().startswith(_FENCE)
        fenced ^= fence
        bare = line.strip()
        speaker = _speaker(line, signed=signed)
        if not bare or speaker is False:
            theirs = False
        alone = bare.rstrip("*_").endswith(":") or (signed and _SIGNED_ABOVE.fullmatch(bare) is not None)
        if speaker is True and (chat or alone or _STAMP.match(line.lstrip(_MARKUP))):
            theirs = True
        if fenced or fence or theirs or speaker is True or _is_code(bare):
            kept.append(" " * len(line))
        else:
            kept.append(_TICKED.sub(lambda code: " " * len(code.group()), line))
    return "\n".join(kept)


def _speaker(line: str, *, signed: bool) -> bool | None:
    """Tell whether a line begins with the one who says it: True another, False the writer, None no such label."""
    rest = line.strip().lstrip(_MARKUP)
    stamp = _STAMP.match(rest)
    rest = rest[stamp.end() :] if stamp else rest
    if signed and _SIGNED_ABOVE.fullmatch(rest):
        return True
    while ":" in rest[:_LONGEST_LABEL]:
        label, _, said = rest.partition(":")
        if said[:1].strip("*_ \t\u200e\u200f\u202f"):
            return None
        written = _WORD.findall(label)
        found = [plain(word).strip(".") for word in written]
        if not found or len(found) > _MOST_LABEL_WORDS or any(sign in label for sign in ",;!?(+"):
            return True if stamp or label[:1] == "+" else None
        if found[0] in _ME and len(found) == 1:
            return False
        if stamp or not _is_own_label(found, written):
            return True
        rest = said.lstrip(_MARKUP)
    return None


def _is_own_label(found: list[str], written: list[str]) -> bool:
    """Tell whether a label says what is told, not who tells it: "allergies", "my dentist", "one more thing"."""
    if any(form in _OWN_LABELS for word in found for form in _forms(word)):
        return True
    if len(found) == 1:
        return any(form in _SINGLE for form in _forms(found[0]))
    if len(found) > _LONGEST_WRITTEN_SMALL and not all(word[0].isupper() for word in written):
        return True  # "plan friday dinner:"
    return any(word in _LABELS or word in _INNER for word in found)


def _forms(word: str) -> tuple[str, str]:
    return word, bare(word).removesuffix("s")


def _is_code(bare: str) -> bool:
    return bare.startswith(_CODE_STARTS) or any(shape.search(bare) for shape in (_TAG, _QUERY, _CALL))
