"""Whether a Hebrew and a Latin spelling are of one name: each Hebrew letter as the sounds that it is written with.

Hebrew writes few vowels, so one may stand between two consonants that it does not show: a or e, no other. What is
written, and a vowel at the end always is, must be there. So דנה is Dana and neither Dan nor Dina.
"""

from functools import lru_cache

_LONGEST = 24  # letters: what is longer is no name
_SOUNDS = {
    "א": ("", "a", "e", "i", "o", "u", "aa"),
    "ב": ("b", "v", "bb"),
    "ג": ("g", "gg"),
    "ד": ("d", "dd"),
    "ה": ("h",),
    "ו": ("v", "w", "o", "u", "oo", "ou"),
    "ז": ("z", "zz"),
    "ח": ("h", "ch", "kh"),
    "ט": ("t", "tt", "th"),
    "י": ("i", "y", "ee", "j", "ie", "e"),
    "כ": ("k", "c", "ch", "kh", "ck", "cc"),
    "ל": ("l", "ll"),
    "מ": ("m", "mm"),
    "נ": ("n", "nn"),
    "ס": ("s", "ss", "c"),
    "ע": ("", "a", "e", "i"),
    "פ": ("p", "f", "ph", "pp", "ff"),
    "צ": ("tz", "ts", "z"),
    "ק": ("k", "c", "q", "ck"),
    "ר": ("r", "rr"),
    "ש": ("sh", "s", "ss", "sch"),
    "ת": ("t", "th", "tt"),
}
_FINALS = str.maketrans("ךםןףץ", "כמנפצ")
_AT_THE_END = {"ה": ("a", "ah", "e", "eh"), "א": ("a", "i", ""), "י": ("i", "y", "ie", "ee", "ai", "ay", "ei")}
_MARKED = {
    "ג'": ("j", "g"),
    "צ'": ("ch", "tch"),
    "ז'": ("j", "zh"),
    "יי": ("ai", "ay", "y", "ei", "i"),
    "וו": ("v", "w"),
}
_CARRIERS = frozenset("אהויע")  # stand for vowels: what is heard before them is written
_UNWRITTEN = "ae"
_BY_CUSTOM = {  # names in which other vowels are not written, or that each language has in its own form
    "אהרן": ("aharon", "aaron"),
    "אברהם": ("abraham",),
    "גדעון": ("gideon",),
    "דוד": ("david",),
    "חוה": ("chava", "hava", "eva", "eve"),
    "יהודה": ("yehuda", "judah"),
    "יהושע": ("yehoshua", "joshua"),
    "יעקב": ("yaakov", "yaacov", "jacob"),
    "יגאל": ("yigal", "igal"),
    "יצחק": ("yitzhak", "itzhak", "yitzchak", "isaac"),
    "ירושלים": ("yerushalayim", "jerusalem"),
    "כהן": ("cohen", "kohen"),
    "מרדכי": ("mordechai", "mordecai"),
    "מרים": ("miriam", "maryam"),
    "משה": ("moshe", "moses"),
    "נח": ("noach", "noah"),
    "פנחס": ("pinchas", "pinhas"),
    "צפורה": ("tzipora", "zipora"),
    "רבקה": ("rivka", "rebecca"),
    "שלמה": ("shlomo", "solomon"),
    "שמעון": ("shimon", "simon"),
    "שמשון": ("shimshon", "samson"),
    "שרה": ("sara", "sarah"),
    "תל": ("tel",),
}


def is_hebrew(word: str) -> bool:
    return bool(word) and "\u0590" <= word[0] <= "\u05ff"


@lru_cache(8_192)
def is_one_name(hebrew: str, latin: str) -> bool:
    """Both in small letters, without accents; the Hebrew one without a prefix."""
    if not (1 < len(hebrew) <= _LONGEST and 1 < len(latin) <= _LONGEST):
        return False
    if latin in _BY_CUSTOM.get(hebrew, ()):
        return True
    letters = hebrew.replace("׳", "'").translate(_FINALS)
    return _reads(letters, latin, {}, 0, 0)


def _reads(letters: str, latin: str, seen: dict[tuple[int, int], bool], at: int, heard: int) -> bool:
    """Whether what is left of one is what is left of the other."""
    if at == len(letters):
        return heard == len(latin)
    if (at, heard) not in seen:
        seen[at, heard] = any(
            latin.startswith(sound, start) and _reads(letters, latin, seen, at + taken, start + len(sound))
            for start in _starts(letters, latin, at, heard)
            for taken, sounds in _written(letters, at)
            for sound in sounds
        )
    return seen[at, heard]


def _starts(letters: str, latin: str, at: int, heard: int) -> tuple[int, ...]:
    """Where the next letter may be heard: here, or behind a vowel that is not written."""
    may_be = at > 0 and heard < len(latin) and latin[heard] in _UNWRITTEN
    if not may_be or letters[at - 1] in "אי" or (letters[at] in _CARRIERS and not _is_heard_as_consonant(letters, at)):
        return (heard,)
    return (heard, heard + 1)


def _is_heard_as_consonant(letters: str, at: int) -> bool:
    """As in לוי and אברהם: not at the end, and of vav, not before a consonant."""
    if letters[at] in "הע":
        return at + 1 < len(letters)
    return letters[at] == "ו" and at + 1 < len(letters) and letters[at + 1] in _CARRIERS


def _written(letters: str, at: int) -> list[tuple[int, tuple[str, ...]]]:
    """(how many letters, the sounds that they may be)"""
    pair, is_last = letters[at : at + 2], at + 1 == len(letters)
    if at > 1 and letters[at:] == "אל":
        return [(2, ("el", "ael"))]  # as of angels
    if letters[at] == "א" and at and not is_last:
        return [(1, ("a", "e", "aa"))]  # a vowel of its own: מאיה is not Mia
    if is_last and letters[at] == "ה" and letters[at - 1] in "וע":
        return [(1, ("a", "e"))]
    found = [(2, _MARKED[pair])] if pair in _MARKED else []
    sounds = _AT_THE_END.get(letters[at]) if is_last else None
    return [*found, (1, sounds or _SOUNDS.get(letters[at], ()))]
