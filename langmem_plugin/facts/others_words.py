"""The parts of a text that are not the writer's own: lines of a chat that was pasted, quoted lines and code."""

import re
from typing import Final

from langmem_plugin.facts.stated import bare
from langmem_plugin.facts.whom import SERVING
from langmem_plugin.languages.language import LANGUAGES, words
from langmem_plugin.languages.plain_text import plain

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
_QUERY = re.compile(r"(?:select|insert into|update|delete from|create|alter|drop|values)\b", re.IGNORECASE)
_CALL = re.compile(r"\w\(\s?['\"]|\w\s?:?=\s?['\"]|=>|[)}\]];$")
_ME: Final = words("me|myself|i|yo|אני|אנחנו")
_OWN_LABELS: Final = frozenset(word for each in LANGUAGES for word in each.own_labels)
_TOLD: Final = [
    *(phrase for each in LANGUAGES for phrase, meant in each.attributes.items() if meant not in SERVING),
    *(phrase for each in LANGUAGES for phrase in (*each.leads, *each.remember)),
]
_LABELS: Final = frozenset(word for phrase in _TOLD for word in phrase)
_SINGLE: Final = frozenset(phrase[0] for phrase in _TOLD if len(phrase) == 1)
_INNER: Final = frozenset(
    word
    for each in LANGUAGES
    for word in each.common | each.fillers | each.selves | each.possessives | each.negations | each.articles
) - frozenset(word for each in LANGUAGES for word in each.others)


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
        if not found or len(found) > _MOST_LABEL_WORDS or any(sign in label for sign in ",;!?("):
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
    if bare.startswith(_CODE_STARTS) or _TAG.search(bare):
        return True
    if _QUERY.match(bare) and any(sign in bare for sign in "'\";=*"):
        return True
    return any(sign in bare for sign in "'\"=") and _CALL.search(bare) is not None
