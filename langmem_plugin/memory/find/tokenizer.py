"""Words as they are searched: split, stop words dropped, stemmed; the same for a query and a memory."""

import functools
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import Stemmer  # type: ignore[import-not-found]  # an extension module without stubs

_LISTS = {
    "english": (
        "a about above after again all am an and any are as at be been before being below both but by can "
        "could did do does doing don down during each few for from further had has have having he her "
        "here hers him his how i if in into is it its just let me mine more most my no nor not now of off "
        "on once only or other our ours out over own please s same shall she should so some such t tell "
        "than that the their theirs them then there these they this those through to too under until up "
        "us very was we were what when where which while who whom whose why will with would you your "
        "yours d ll m re ve im ive dont didnt hello hi hey"
    ),
    "spanish": (
        "a al algo alguna alguno ante antes aquel aquella como con contra cual cuál cuales cuáles cuando "
        "cuándo cuánta cuántas cuánto cuántos de del desde donde dónde dime "
        "durante e el él ella ellas ellos en entre era eran "
        "eres es esa esas ese eso esos esta está estaba están estar estas este esto estos estoy fue "
        "fueron ha han has hasta hay he la las le les lo los mas más me mi mí mis mucho muy nada ni no "
        "nos nosotros nuestra nuestro o os otra otro para pero poco por porque que qué quien quién "
        "quienes se sea ser si sí sin sobre son soy su sus también tan te tengo ti tiene tienen todo "
        "todos tu tú tus un una uno unos usted y ya yo hola"
    ),
    "french": (
        "à au aux avec ce ces cet cette dans de des du elle elles en est et étaient était été être eu eux "
        "il ils je la le les leur leurs lui ma mais me même mes moi mon ne nos notre nous on ont ou où "
        "par pas pour qu quand que quel quelle quelles quels qui quoi sa sans se ses son sont suis sur ta "
        "te tes toi ton tu un une vos votre vous y"
    ),
    "german": (
        "aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein deine dem den "
        "der des dich die dir doch du durch ein eine einem einen einer eines er es euch für habe haben "
        "hat hatte ich ihm ihn ihr ihre im in ist ja kann kein keine man mein meine mich mir mit nach "
        "nicht noch nur ob oder ohne sein seine sich sie sind so über um und uns unser unter vom von vor "
        "wann war waren warum was wenn wer wie wir wird wo zu zum zur"
    ),
    "italian": (
        "a ad ai al alla alle anche che chi ci come con cosa cui da dal dalla degli dei del della delle "
        "di dove e è ed era erano essere fra gli ha hai hanno ho i il in io la le lei li lo loro lui ma "
        "mi mia mie miei mio ne nei nel nella noi non nostra nostro o per perché più quale quali quando "
        "quanto quella quello questa questo sei si sono su sua sue sul sulla suo suoi ti tra tu tua tuo "
        "un una uno vi voi"
    ),
    "portuguese": (
        "a ao aos as às até com como da das de dela dele do dos e é ela elas ele eles em entre era essa "
        "esse esta está este eu foi foram há isso isto já lhe mais mas me meu meus minha minhas muito na "
        "não nas nem no nos nós o onde os ou para pela pelo por porque qual quais quando quanto que quem "
        "se sem ser seu seus sua suas são também te tem têm teu tua tu um uma você vocês"
    ),
    "russian": (
        "а без более бы был была были было быть в вам вас весь во вот все всего вы где да для до его ее "
        "ей ему если есть еще же за и из или им их к как какая какой какие ко когда которая который кто "
        "ли меня мне мой моя мы на над не него нет ни но ну о об он она они оно от по под после при про с "
        "со так также там тебя то только ты у уже чего чей чем что чтобы эта это этот я"
    ),
    "hebrew": (
        "אבל או אותה אותו אותי אותך אותם אז אחד אחרי אי איזה איזו איך אילו אין איפה אל אלה אם אנחנו אני "
        "אף את אתה אתם באיזה בו בי בין בלי גם דבר ה הוא היא היה היו היום הם הן הנה זה זו זאת יש כאן כאשר "
        "כדי כי כל כמה כמו כן לא לאן לה להם לו לי לך לכם למה לנו לפני מאוד מאיפה מה מי מתי נגד על עלי "
        "עליו עם עד עוד עכשיו פה רק ש של שלה שלהם שלו שלי שלך שלנו שם תגיד תגידי"
    ),
}

STOP_WORDS = {language: frozenset(words.split()) for language, words in _LISTS.items()}

SMALL_TALK = re.compile(
    "thanks|thank|thx|ty|please|pls|ok|okay|okey|kk|yes|yep|yeah|yup|nope|sure|great|cool|nice|good|well|fine|perfect|sorry"
    "|welcome|bye|goodbye|cheers|morning|mornin|evening|night|afternoon|lol|lmao|omg|wow|hmm+|yay|ugh|xx*|hiya|heya|hullo"
    "|(?:ha)+h?|a?(?:ja)+j?|(?:he)+h?|(?:ח)+"
    "|gracias|porfa|vale|bueno|buenos|buenas|buen|dias|días|tardes|noches|perfecto|genial|claro|adios|adiós|chao|saludos"
    "|תודה|רבה|בבקשה|אוקיי|אוקי|סבבה|יופי|מעולה|טוב|בוקר|ערב|לילה|אור|היי|הי|שלום|ביי|להתראות|סליחה|מלך|אלוף"
)
"""Each word by which people greet, thank, agree or laugh, in small letters."""

_WORD = re.compile(r"[^\W_]+(?:(?<=[א-ת])['\"׳״](?=[א-ת])[^\W_]+)*")  # Hebrew writes marks inside words
_DIGIT_GROUPS = re.compile(r"(?<=\d)[,'’](?=\d{3}\b)")
_HEBREW_POINTS = re.compile(r"[\u0591-\u05c7]")
_LETTER = re.compile("[\\s\\S][\u0300-\u036f\u0591-\u05c7]*+")  # with its marks
HEBREW_PREFIXES = frozenset("ובהלכמש")  # and, in, the, to, as, from, that: written as one with the word
_HEBREW_ENDINGS = ("ימ", "ות")  # of plurals, written without final letters
HEBREW_FINALS = str.maketrans("ךםןףץ", "כמנפצ")
_SHORTEST_HEBREW = 3
_LONGEST_WORD = 100  # letters; what is longer is no word of a language, and is kept by its beginning

_LATIN = tuple(language for language in STOP_WORDS if language not in ("russian", "hebrew"))
_STOPS_IN: dict[str, list[str]] = {}  # stop word -> the languages in Latin letters that have it
for _language in _LATIN:
    for _word in STOP_WORDS[_language]:
        _STOPS_IN.setdefault(_word, []).append(_language)
_FIRST_NOT_LATIN = "\u0370"
_SCRIPTS = (  # first and last letter of the script, and how its words are stemmed
    ("\u0400", "\u052f", "russian"),
    ("\u0590", "\u05ff", "hebrew"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0370", "\u03ff", "greek"),
)
_of_thread = threading.local()  # a stemmer keeps state between words


def terms(text: str) -> list[str]:
    """The searchable words of `text` in order, repeated as often as they occur; stop words are left out."""
    return [_stem(word, language) for word, language in _spoken(text) if word not in STOP_WORDS.get(language, ())]


def asked(text: str) -> list[list[str]]:
    """The same for a question: per word, its forms in the language it seems to be in and in the others.

    A text of a few words may be taken for another language than the question about it.
    """
    return [
        list(dict.fromkeys([_stem(word, language), *(_stem(word, other) for other in _others(language))]))
        for word, language in _spoken(text)
        if word not in STOP_WORDS.get(language, ())
    ]


def telling(text: str) -> bool:
    """Whether a word of it may be about something: no number, greeting, thanks, laugh or stop word is."""
    return any(
        not word.isnumeric() and not SMALL_TALK.fullmatch(word) and word not in STOP_WORDS.get(language, ())
        for word, language in _spoken(text)
    )


def _others(language: str) -> tuple[str, ...]:
    return _LATIN if language in _LATIN else ()


def stems(text: str, *, like: str) -> list[str]:
    """Every word of `text` in order, stop words too, stemmed in the language of `like`."""
    return stemmer(like)(text)


def stemmer(like: str) -> Callable[[str], list[str]]:
    """The same for many texts."""
    latin = _latin_language(words_of(like))
    return lambda text: [_stem(word, _script(word) or latin) for word in words_of(text)]


@functools.lru_cache(maxsize=16)  # of one question it is asked several times
def language_of(text: str) -> str:
    """The language most words of `text` seem to be in; English where nothing tells."""
    spoken = Counter(language for _, language in _spoken(text))
    return max(spoken, key=spoken.__getitem__) if spoken else "english"


def _spoken(text: str) -> list[tuple[str, str]]:
    """(word, its language); Latin letters do not tell, so all words in them share one."""
    words = words_of(text)
    latin = _latin_language(words)
    return [(word, _script(word) or latin) for word in words]


def words_of(text: str) -> list[str]:
    """Every word as it is spelled, in order, in small letters."""
    if text.isascii() and text.isalnum():
        return [text.casefold()]
    text = text.casefold() if text.isascii() else _HEBREW_POINTS.sub("", unicodedata.normalize("NFKC", text).casefold())
    return _WORD.findall(_DIGIT_GROUPS.sub("", text))


class PlacedWord(NamedTuple):
    """A word of a text: where it begins and ends there, as `words_of` spells it, and its stem."""

    start: int
    end: int
    word: str
    stem: str


def placed(text: str) -> list[PlacedWord]:
    """Every word with its place, in order, stop words too."""
    letters, places = [], []
    for each in _LETTER.finditer(text):
        made = _HEBREW_POINTS.sub("", unicodedata.normalize("NFKC", each.group()).casefold())
        letters.append(made)
        places += [each.span()] * len(made)
    whole = "".join(letters)
    dropped = {each.start() for each in _DIGIT_GROUPS.finditer(whole)}
    places = [place for at, place in enumerate(places) if at not in dropped]
    found = list(_WORD.finditer("".join(letter for at, letter in enumerate(whole) if at not in dropped)))
    latin = _latin_language([each.group() for each in found])
    return [
        PlacedWord(places[each.start()][0], places[each.end() - 1][1], word, _stem(word, _script(word) or latin))
        for each in found
        for word in [each.group()]
    ]


def stems_of(word: str) -> frozenset[str]:
    """What a word may be in an index: its stems in the languages of its letters; none where it may be left out."""
    language = _script(word)
    if word in STOP_WORDS.get(language or "", ()) or (language is None and word in _STOPS_IN):
        return frozenset()
    return frozenset(_stem(word, each) for each in ([language] if language else _LATIN))


def stemmed(words: str, language: str) -> frozenset[str]:
    """The stems of words of one language, apart by spaces."""
    return frozenset(_stem(word, language) for word in words.split())


def _latin_language(words: list[str]) -> str:
    """The language whose stop words occur most; English when that says nothing."""
    hits = [language for word in words for language in _STOPS_IN.get(word, ())]
    return max(_LATIN, key=hits.count) if hits else "english"


def _script(word: str) -> str | None:
    if word[0] < _FIRST_NOT_LATIN:
        return None
    return next((language for first, last, language in _SCRIPTS if first <= word[0] <= last), None)


def _stem(word: str, language: str) -> str:
    return _stem_of_word(word, language) if len(word) <= _LONGEST_WORD else word[:_LONGEST_WORD]


@functools.lru_cache(maxsize=65_536)
def _stem_of_word(word: str, language: str) -> str:
    if language == "hebrew":
        return _hebrew_stem(word)
    stemmers = vars(_of_thread)
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(language)
    return without_accents(stemmers[language].stemWord(word))


def without_accents(word: str) -> str:
    if word.isascii():
        return word
    return "".join(letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter))


def _hebrew_stem(word: str) -> str:
    """A word and the same word behind any prefixes give one stem, as long as three letters remain."""
    word = "".join(letter for letter in word if letter.isalnum()).translate(HEBREW_FINALS)
    for ending in _HEBREW_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_HEBREW:
            word = word[: -len(ending)]
            break
    while len(word) > _SHORTEST_HEBREW and word[0] in HEBREW_PREFIXES:
        word = word[1:]
    return word
