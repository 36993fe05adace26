"""A fact whose sentence does not plainly say it is not stored at once; what is plainly said is."""

import pytest

from langmem_plugin.facts.guards import doubted
from langmem_plugin.facts.negation_and_modality import Claim, Stated
from tests.cases import for_each
from tests.facts.test_guards import why_not_at_once


def is_sure(message, fact, quote, *, about_speaker=True):
    return why_not_at_once(message, fact, quote, about_speaker=about_speaker) is None


@pytest.mark.spec("W-3")
@for_each(
    ("message", "fact", "quote"),
    [
        # another clause stands around it
        ("my accountant swears I own a boat", "Owns a boat", "I own a boat"),
        ("word got out that we are expecting", "Expecting", "we are expecting"),
        ("the satnav believes I live in Wales", "Lives in Wales", "I live in Wales"),
        ("mi tía va contando que soy notario", "Es notario", "soy notario"),
        ("el formulario daba por sentado que fumo", "Fuma", "fumo"),
        ("השעון משוכנע שאני ישן טוב", "ישן טוב", "אני ישן טוב"),
        ("כתבתי בטופס שאני רווק", "רווק", "שאני רווק"),
        # it is another clause's number, what one clause denies for both, or whose another is
        ("our cat is 4 and the dog is 11", "Cat is 11", "our cat is 4 and the dog is 11"),
        ("mi hijo mide 1,20 y mi hija 1,35", "Hijo mide 1,35", "mi hijo mide 1,20 y mi hija 1,35"),
        ("we don't own a boat or a caravan", "Owns a caravan", "a caravan"),
        ("אין לנו אוטו או אופנוע", "יש אופנוע", "אופנוע"),
        ("in this game I'm a wizard", "Is a wizard", "I'm a wizard"),
        ("I'm training to be a pilot", "Pilot", "pilot"),
        ("nearly all my cousins reckon I'm Welsh", "Is Welsh", "I'm Welsh"),
        # a laugh follows it
        ("I basically live at the gym lol", "Lives at the gym", "I basically live at the gym"),
        ("haha I'm a night owl hahaha", "Night owl", "I'm a night owl"),
        # somebody or something else is its subject
        ("the couple next door own a sauna", "Owns a sauna", "own a sauna"),
        ("half of my class speaks Basque", "Speaks Basque", "speaks Basque"),
        ("los de abajo tienen un loro", "Tiene un loro", "tienen un loro"),
        ("la portera es sorda", "Es sorda", "es sorda"),
        ("זה מהמכולת צמחוני", "צמחוני", "צמחוני"),
        # it hangs on something: a condition, a time to come, a play, a comparison
        ("once we win the lottery we live in Monaco", "Lives in Monaco", "we live in Monaco"),
        ("I live on the moon if you ask my mother", "Lives on the moon", "I live on the moon"),
        ("cuando sea mayor viviré en Soria", "Vive en Soria", "viviré en Soria"),
        ("כשאפרוש אני גר בכנרת", "גר בכנרת", "אני גר בכנרת"),
        ("draft a dating ad: I'm Max, a lonely shepherd", "A lonely shepherd", "I'm Max, a lonely shepherd"),
        ("they hired me as a clown for one evening", "Is a clown", "a clown"),
        ("vivo como un monje", "Es monje", "un monje"),
        # it was, or is only aimed at
        ("I worked for Siemens in the nineties", "Works for Siemens", "I worked for Siemens"),
        ("de joven yo llevaba un taxi", "Lleva un taxi", "llevaba un taxi"),
        ("לפני הצבא עבדתי בחקלאות", "עובד בחקלאות", "עבדתי בחקלאות"),
        ("I forgot to cancel the gym", "Cancelled the gym", "cancel the gym"),
        ("I tried playing the harp once", "Plays the harp", "playing the harp"),
        ("pensamos adoptar un galgo", "Adopta un galgo", "adoptar un galgo"),
        # a request for words
        ("pon que soy pelirrojo", "Es pelirrojo", "soy pelirrojo"),
        ("put that I'm 21", "Is 21", "I'm 21"),
        # a joke, a question
        ("sure, I own three castles lol", "Owns three castles", "I own three castles"),
        ("oh right, and we are royalty", "Is royalty", "we are royalty"),
        ("do you reckon I'm colour blind?", "Colour blind", "I'm colour blind"),
    ],
)
def test_what_a_sentence_does_not_plainly_say_is_not_stored_at_once(message, fact, quote):
    assert not is_sure(message, fact, quote)


@pytest.mark.spec("W-3")
@for_each(
    ("message", "fact", "quote", "about_speaker"),
    [
        ("my son's doctor is colour blind", "Son is colour blind", "my son's doctor is colour blind", False),
        ("el jefe de mi hermana vive en Lugo", "Hermana vive en Lugo", "mi hermana vive en Lugo", False),
        ("Vera claims her brother is deaf", "Vera is deaf", "Vera claims her brother is deaf", False),
    ],
)
def test_whose_another_is_does_not_make_them_the_same(message, fact, quote, about_speaker):
    assert not is_sure(message, fact, quote, about_speaker=about_speaker)


@pytest.mark.spec("W-3", "W-1")
@for_each(
    ("message", "fact", "quote", "about_speaker"),
    [
        ("hey, I'm allergic to latex by the way", "Allergic to latex", "I'm allergic to latex", True),
        ("since the move I cycle to work", "Cycles to work", "since the move I cycle to work", True),
        ("every Sunday we have lunch at my mum's", "Lunch at mum's every Sunday", "every Sunday we have lunch", True),
        ("got engaged last night!!", "Got engaged", "got engaged last night", True),
        ("no coffee for me, I like tea", "Likes tea", "I like tea", True),
        ("me and Sol run a garage", "Runs a garage with Sol", "me and Sol run a garage", True),
        ("the nurse says I have low iron", "Has low iron", "I have low iron", True),
        ("my brother Piet is a baker", "Brother Piet is a baker", "my brother Piet is a baker", False),
        ("oye, que vivo en Teruel", "Vive en Teruel", "vivo en Teruel", True),
        ("no como queso", "No come queso", "no como queso", True),
        ("los viernes tengo coro", "Tiene coro los viernes", "los viernes tengo coro", True),
        ("acabamos de comprar una furgoneta", "Compró una furgoneta", "acabamos de comprar una furgoneta", True),
        ("el médico dice que tengo gota", "Tiene gota", "tengo gota", True),
        ("mi mujer canta en un coro", "Mujer canta en un coro", "mi mujer canta en un coro", False),
        ("nuestro alquiler es de 700 euros", "Alquiler es de 700 euros", "nuestro alquiler es de 700 euros", True),
        ("find us a table we are vegan", "Vegan", "we are vegan", True),
        ("haha yes we keep bees", "Keeps bees", "we keep bees", True),
        ("jajaja vivo en un faro", "Vive en un faro", "vivo en un faro", True),
        ("my son is 6 and my daughter is 9", "Daughter is 9", "my son is 6 and my daughter is 9", False),
        ("i got the job, starting at Hema in June", "Got the job", "i got the job", True),
        ("אני גרה בערד", "גרה בערד", "אני גרה בערד", True),
        ("כל שני יש לי מקהלה", "מקהלה כל יום שני", "כל שני יש לי מקהלה", True),
        ("הבן שלי נמרוד בן תשע", "הבן נמרוד בן תשע", "הבן שלי נמרוד בן תשע", False),
    ],
)
def test_what_is_plainly_said_is_stored_at_once(message, fact, quote, about_speaker):
    assert is_sure(message, fact, quote, about_speaker=about_speaker)


@pytest.mark.spec("W-3")
@for_each("text", ["(" * 5_000, "if " * 3_000, "que " * 5_000, "my dad says: " * 1_000, "ש" * 20_000, "\ud83d", ""])
def test_a_strange_message_is_doubted_or_not_but_read(text):
    assert doubted(Stated(Claim("Likes tea", "I like tea"), f"{text} I like tea")) in (None, *_DOUBTS)


_DOUBTS = ("may be a joke", "hangs on something else", "may be another's words", "may be about somebody else")
