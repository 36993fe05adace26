"""The words by which people ask, join what they ask, and point back; one table for each language."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AskingWords:
    """Small letters. A phrase is its words with a space between them."""

    joins: frozenset[str]
    asks: frozenset[str]  # question words: a clause after a join may begin with one
    asks_after_comma: frozenset[str]  # of them those that are no relative pronouns too
    before_asks: frozenset[str]  # prepositions: "until when", "a qué hora"
    requests: tuple[str, ...]  # longest first
    lead_ins: tuple[str, ...]  # what may come before a question and says nothing about it; longest first
    small_talk: frozenset[str]
    determiners: frozenset[str]
    weak_determiners: frozenset[str]  # those that two words for one thing have too: "la sal y la pimienta"
    prepositions: dict[str, str]  # each as it is compared: "del" is "de"
    of_both: frozenset[str]  # what is asked is about all that is joined: nothing is taken apart
    pronouns: frozenset[str]
    possessive_pronouns: frozenset[str] = frozenset()
    auxiliaries: frozenset[str] = frozenset()
    being: frozenset[str] = frozenset()
    subjects: frozenset[str] = frozenset()  # what a subject begins with, after an auxiliary
    inverts: bool = False  # a question has an auxiliary before its subject, and every clause says its subject
    abouts: tuple[str, ...] = ()  # lead from one question to the same about another: "what about"
    conditions: frozenset[str] = frozenset()
    asks_without_accents: frozenset[str] = frozenset()  # question words only where a question begins
    before_task: frozenset[str] = frozenset()  # after a request: it is for something to do
    task_endings: tuple[str, ...] = ()
    before_task_prefix: tuple[str, ...] = ()
    wishes: frozenset[str] = frozenset()  # requests that only ask for what has an article
    prefixed_join: str = ""  # "and" where it is written as one with the next word


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    phrases = [each.strip() for each in text.split(",")]
    return tuple(sorted(phrases, key=lambda phrase: -len(phrase.split())))


def _as_they_are(text: str) -> dict[str, str]:
    return {word: word for word in text.split()}


def _set_of_phrases(text: str) -> frozenset[str]:
    return frozenset(_phrases(text))


_ENGLISH_BE = "is are was were"
_ENGLISH_ASKS = "what when where which who whose whom why how what's when's where's who's how's whats whens wheres whos"

ENGLISH = AskingWords(
    joins=_words("and & plus also"),
    asks=_words(f"{_ENGLISH_ASKS} whether if"),
    asks_after_comma=_words(_ENGLISH_ASKS),
    before_asks=_words("at by for from in of on since to till until under with about"),
    requests=_phrases(
        "tell me about, tell me, remind me of, remind me about, remind me, give me, show me, send me, list, "
        "let me know, i need, i want to know, i'd like to know, what do you know about, what about, do you know, "
        "do you remember"
    ),
    lead_ins=_phrases(
        "and, also, plus, ok, okay, so, please, pls, hey, hi, hello, btw, by the way, then, oh, can you, could you, "
        "would you, will you, can you please, could you please, good morning, good evening"
    ),
    small_talk=_set_of_phrases(
        "how are you, how are you doing, how are things, how is it going, how's it going, what's up, whats up, thanks, "
        "thank you, thx, thanks a lot"
    ),
    determiners=_words("my our your his her its their the this that these those"),
    weak_determiners=frozenset(),
    prepositions=_as_they_are("of for with about from to at on in by"),
    of_both=_words("between both together each difference share same apart common versus vs"),
    pronouns=_words("he she it they him them her there"),
    possessive_pronouns=_words("his her its their"),
    auxiliaries=_words(
        f"{_ENGLISH_BE} do does did can could will would should shall has have had must may am isn't aren't "
        "doesn't don't didn't can't won't"
    ),
    being=_words(_ENGLISH_BE),
    inverts=True,
    abouts=_phrases("what about, how about"),
    conditions=_words("if whether when"),
    before_task=_words("to"),
    wishes=_set_of_phrases("i need"),
    subjects=_words("i we you he she it they my our your his her its their the there this that these those any anyone"),
)

_SPANISH_ASKS = "qué cuál cuáles cuándo dónde adónde quién quiénes cómo cuánto cuánta cuántos cuántas"

SPANISH = AskingWords(
    joins=_words("y e & además también"),
    asks=_words(f"{_SPANISH_ASKS} cual cuales cuando donde adonde quien quienes cuanto cuanta cuantos cuantas si"),
    asks_after_comma=_words(_SPANISH_ASKS),
    before_asks=_words("a con de del desde en hasta para por sobre"),
    requests=_phrases(
        "dime, dame, recuérdame, recuerdame, muéstrame, muestrame, pásame, pasame, mándame, mandame, necesito, "
        "quiero saber, me dices, me das, me recuerdas, puedes decirme, sabes, qué sabes de, háblame de"
    ),
    lead_ins=_phrases(
        "y, e, además, también, ah, oye, hola, buenas, bueno, vale, ok, por favor, porfa, pues, entonces"
    ),
    small_talk=_set_of_phrases(
        "qué tal, que tal, cómo estás, como estas, cómo va, qué hay, cómo te va, todo bien, gracias, muchas gracias"
    ),
    determiners=_words(
        "mi mis tu tus su sus nuestro nuestra nuestros nuestras el la los las este esta estos estas ese esa esos esas"
    ),
    weak_determiners=_words("el la los las"),
    being=_words("es son era eran está están"),
    abouts=_phrases("qué hay de, qué pasa con, qué tal"),
    conditions=_words("si cuando"),
    asks_without_accents=_words("que como"),
    task_endings=("ar", "er", "ir", "arle", "erle", "irle"),
    prepositions={"a": "a", "al": "a", "de": "de", "del": "de"} | _as_they_are("con en para por sobre"),
    of_both=_words("entre ambos ambas juntos juntas diferencia mismo misma comparten comparte común"),
    pronouns=_words("él ella ellos ellas lo le les allí ahí se"),
)

HEBREW = AskingWords(
    joins=_words("ו וגם גם &"),
    asks=_words(
        "מה מהו מהי מהם מתי מי איפה היכן כמה איך כיצד למה מדוע איזה איזו אילו לאן מאיפה מאיזה מאיזו ממתי ממי למי במה "
        "באיזה באיזו באילו לאיזה לאיזו האם"
    ),
    asks_after_comma=_words(
        "מה מהו מהי מתי מי איפה היכן כמה איך כיצד למה מדוע איזה איזו אילו לאן מאיפה מאיזה ממתי ממי למי במה באיזה באיזו "
        "באילו לאיזה לאיזו האם"
    ),
    before_asks=_words("עד על עם את של אצל בשביל"),
    requests=_phrases(
        "תגיד לי, תגידי לי, תגיד, תגידי, תזכיר לי, תזכירי לי, תן לי, תני לי, תראה לי, תראי לי, שלח לי, תשלח לי, "
        "תשלחי לי, אני צריך, אני צריכה, אפשר לדעת, אפשר, אני רוצה לדעת"
    ),
    lead_ins=_phrases("ו, וגם, גם, אז, היי, שלום, אוקיי, אוקי, טוב, בבקשה, בוקר טוב, ערב טוב, רגע"),
    small_talk=_set_of_phrases("מה נשמע, מה שלומך, מה קורה, מה המצב, איך הולך, מה איתך, תודה, תודה רבה"),
    determiners=frozenset(),
    weak_determiners=frozenset(),
    prepositions=_as_they_are("של את על עם אצל עבור"),
    of_both=_words("בין יחד ביחד שניהם שתיהן הפרש ההפרש הבדל ההבדל משותף"),
    pronouns=_words("הוא היא הם הן אותו אותה אותם אותן שלו שלה שלהם לו לה להם עליו עליה עליהם איתו איתה איתם שם"),
    abouts=_phrases("מה עם, מה לגבי"),
    before_task_prefix=("ל",),
    prefixed_join="ו",
)

ASKING_WORDS = {"english": ENGLISH, "spanish": SPANISH, "hebrew": HEBREW}
