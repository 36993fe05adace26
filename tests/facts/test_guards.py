"""No reader, model or rules, gets past a guard: each of these facts is claimed with words that were really said."""

from datetime import date

import pytest

from langmem_plugin.facts.guards import asks_not_to_keep, corrects, doubted, sensitive_beyond, unbelieved
from langmem_plugin.facts.negation_and_modality import Claim, Stated
from tests.cases import for_each

TODAY = date(2026, 3, 4)


def why_not(message, fact, quote, *, following="", about_speaker=True, heard=""):
    return unbelieved(Stated(Claim(fact, quote, about_speaker), message), TODAY, heard=heard, following=following)


def why_not_at_once(message, fact, quote, *, about_speaker=True):
    stated = Stated(Claim(fact, quote, about_speaker), message)
    return unbelieved(stated, TODAY) or doubted(stated)


@pytest.mark.spec("W-3")
@for_each(
    ("message", "fact", "quote"),
    [
        ("honestly we never eat pork in this house", "Eats pork", "eat pork in this house"),
        ("I can't stand coriander", "Stands coriander", "stand coriander"),
        ("it isn't true that I play the tuba", "Plays the tuba", "I play the tuba"),
        ("we no longer rent in Porto", "Rents in Porto", "rent in Porto"),
        ("ya no trabajo en el puerto", "Trabaja en el puerto", "trabajo en el puerto"),
        ("nunca he tenido coche", "Tiene coche", "tenido coche"),
        ("אני כבר לא מעשנת", "מעשנת", "מעשנת"),
        ("אין לי רישיון נהיגה", "בעל רישיון נהיגה", "לי רישיון נהיגה"),
        ("I don't have any pets", "Has pets", "have any pets"),
        ("es mentira, no soy abogado", "Es abogado", "soy abogado"),
    ],
)
def test_a_denial_that_the_quote_leaves_out_is_not_lost(message, fact, quote):
    assert why_not(message, fact, quote) == "leaves out that it is not so"


@pytest.mark.spec("W-3")
@for_each(
    ("message", "fact", "quote"),
    [
        ("I don't eat pork but I adore lamb", "Adores lamb", "I adore lamb"),
        ("can't wait, I fly to Malta in May", "Flies to Malta in May 2026", "I fly to Malta in May"),
        ("we don't drink alcohol", "Avoids alcohol", "we don't drink alcohol"),
        ("don't forget I work nights", "Works nights", "I work nights"),
        ("we live in Gdansk now, not Warsaw", "Lives in Gdansk", "we live in Gdansk now"),
        ("no se si te lo dije pero toco el oboe", "Toca el oboe", "toco el oboe"),
        ("לא רק קפה, אני אוהבת גם תה", "אוהבת תה", "אני אוהבת גם תה"),
    ],
)
def test_a_denial_of_something_else_takes_nothing_away(message, fact, quote):
    assert why_not(message, fact, quote) is None


@pytest.mark.spec("W-3", "W-7")
@for_each(
    ("message", "fact", "quote"),
    [
        ("asking for my brother: I'm colour blind, can I be a pilot?", "Colour blind", "I'm colour blind"),
        ("my neighbour is asking: I own two goats, is that legal?", "Owns two goats", "I own two goats"),
        ("then she goes I'm allergic to wasps", "Allergic to wasps", "I'm allergic to wasps"),
        ("grandma texted: I moved into the blue house", "Moved into the blue house", "I moved into the blue house"),
        ("the ad says: I am a night nurse with ten years of practice", "Night nurse", "I am a night nurse"),
        ("mi cuñado pregunta: soy autónomo, pago menos?", "Es autónomo", "soy autónomo"),
        ("la canción dice: vivo en un barco azul", "Vive en un barco azul", "vivo en un barco azul"),
        ("אחותי שואלת: אני צמחונית, מה יש שם לאכול?", "צמחונית", "אני צמחונית"),
        ('he wrote "I owe you forty euros" on the wall', "Owes forty euros", "I owe you forty euros"),
        ("mi hermana quiere que aprenda a nadar", "Aprende a nadar", "aprenda a nadar"),
        ("my coach wants me to give up sugar", "Gives up sugar", "give up sugar"),
        ("let's play: I'm a sailor and I live on a raft", "Lives on a raft", "I live on a raft"),
        ("if I owned a farm I'd keep bees", "Keeps bees", "I'd keep bees"),
        ("si yo viviera en Lugo iría a pie", "Vive en Lugo", "viviera en Lugo"),
        ("conocimos a un vecino, es bombero y vive solo", "Es bombero", "es bombero"),
        ("> I am vegan\nwhat do you think?", "Vegan", "I am vegan"),
    ],
)
def test_what_is_said_or_wished_by_another_is_not_about_the_person(message, fact, quote):
    assert why_not_at_once(message, fact, quote) is not None


@pytest.mark.spec("W-3")
@for_each(
    ("message", "fact", "quote", "about_speaker"),
    [
        ("asking for my brother: I'm colour blind", "Brother is colour blind", "I'm colour blind", False),
        ("my doctor says I'm short of iron", "Short of iron", "I'm short of iron", True),
        ("I said I like window seats", "Likes window seats", "I like window seats", True),
        ("Marek says he hates boats but I love them", "Loves boats", "I love them", True),
        ("if you are cooking tonight, I'm off dairy", "Off dairy", "I'm off dairy", True),
        ("my coach wants me to give up sugar", "Coach wants them to give up sugar", "give up sugar", True),
        ("I asked around and I joined the rowing club", "Joined the rowing club", "I joined the rowing club", True),
    ],
)
def test_whose_words_they_are_may_be_said_in_the_fact(message, fact, quote, about_speaker):
    assert why_not(message, fact, quote, about_speaker=about_speaker) is None


@pytest.mark.spec("W-3", "W-9")
@for_each(
    ("message", "fact", "quote"),
    [
        ("my neighbour is allergic to bees", "Allergic to bees", "allergic to bees"),
        ("Tom is a vegan and so is his wife", "Vegan", "vegan"),
        ("my boss drives a Tesla", "Drives a Tesla", "drives a Tesla"),
        ("mi jefe tiene un Tesla", "Tiene un Tesla", "tiene un Tesla"),
        ("אחותי גרה באוסלו", "גרה באוסלו", "גרה באוסלו"),
        ("his wife told me: I'm pregnant", "Pregnant", "I'm pregnant"),
        ("people think I'm rich", "Rich", "I'm rich"),
        ("dicen que soy rico", "Rico", "soy rico"),
        ("אומרים שאני עשיר", "עשיר", "אני עשיר"),
        ("am I allergic to cats?", "Allergic to cats", "allergic to cats"),
        ("¿soy alérgica a los gatos?", "Alérgica a los gatos", "soy alérgica a los gatos"),
        ("האם אני אלרגית לחתולים?", "אלרגית לחתולים", "אני אלרגית לחתולים"),
        ("I doubt I'm lactose intolerant", "Lactose intolerant", "I'm lactose intolerant"),
        ("I almost bought a flat in Lyon", "Bought a flat in Lyon", "bought a flat in Lyon"),
        ("I was about to quit Shell but stayed", "Quit Shell", "quit Shell"),
        ("por poco compro un piso en Lugo", "Compró un piso en Lugo", "compro un piso en Lugo"),
        ("כמעט קנינו דירה בעכו", "קנו דירה בעכו", "קנינו דירה בעכו"),
        ("wish I had a garden", "Has a garden", "I had a garden"),
        ("soy vegano, qué va, es mentira", "Vegano", "soy vegano"),
        ("vivo en Jaén, bueno no, en Úbeda", "Vive en Jaén", "vivo en Jaén"),
        ("אני גר בעכו, לא, בחיפה", "גר בעכו", "אני גר בעכו"),
    ],
)
def test_a_quote_cut_from_what_it_hangs_on_proves_nothing_of_the_speaker(message, fact, quote):
    assert why_not_at_once(message, fact, quote) is not None


@pytest.mark.spec("W-3")
@for_each(
    ("message", "fact", "quote"),
    [
        ("my neighbour is allergic to bees and I am allergic to wasps", "Allergic to wasps", "I am allergic to wasps"),
        ("my mum and I are vegan", "Vegan", "my mum and I are vegan"),
        ("mi marido y yo vivimos en Roma", "Vive en Roma", "mi marido y yo vivimos en Roma"),
        ("אני בת 52", "בת 52", "אני בת 52"),
        ("my sister lives in Oslo", "Has a sister in Oslo", "my sister lives in Oslo"),
        ("what can I cook for my vegan wife?", "Wife is vegan", "my vegan wife"),
        ("I can't wait, I'm moving to Bonn", "Moving to Bonn", "I'm moving to Bonn"),
        ("me gusta el mar, no te preocupes", "Le gusta el mar", "me gusta el mar"),
    ],
)
def test_what_the_speaker_tells_beside_others_is_believed(message, fact, quote):
    assert why_not(message, fact, quote) is None


@pytest.mark.spec("W-3")
@for_each(
    ("message", "fact", "quote"),
    [
        ("my daughter is in year 4", "Daughter is in year 5", "my daughter is in year 4"),
        ("we keep bees", "Keeps 12 bee hives", "we keep bees"),
        ("I play chess", "Plays chess with Magnus", "I play chess"),
        ("we have some ducks", "Has three ducks", "we have some ducks"),
        ("the flat costs 900", "The flat cost 900 in 2019", "the flat costs 900"),
        ("we marry in October", "Wedding is in October 2041", "we marry in October"),
    ],
)
def test_a_number_or_a_name_that_nobody_said_is_none(message, fact, quote):
    assert why_not(message, fact, quote).startswith("holds a")


@pytest.mark.spec("W-3", "W-8")
@for_each(
    ("message", "fact", "quote", "heard"),
    [
        ("we marry in October", "Wedding is in October 2026", "we marry in October", ""),
        ("I see the vet tomorrow at 10", "Vet on 5 March 2026 at 10", "I see the vet tomorrow at 10", ""),
        ("nos mudamos el viernes", "Se mudan el 6 de marzo de 2026", "nos mudamos el viernes", ""),
        ("I quit coffee three years ago", "Quit coffee in 2023", "I quit coffee three years ago", ""),
        ("מתחתנים בעוד שבועיים", "מתחתנים ב-18 במרץ 2026", "מתחתנים בעוד שבועיים", ""),
        ("she plays the harp", "Nadia plays the harp", "she plays the harp", "my niece is Nadia"),
        ("my sistr lives in Bukarest", "Sister lives in Bucharest", "my sistr lives in Bukarest", ""),
        ("we have two cats", "Has 2 cats", "we have two cats", ""),
        ("I owe Piet 1,250", "Owes Piet 1250", "I owe Piet 1,250", ""),
    ],
)
def test_a_day_may_be_counted_and_a_name_may_stand_in_what_was_said_before(message, fact, quote, heard):
    assert why_not(message, fact, quote, heard=heard) is None


@pytest.mark.spec("W-9")
@for_each(
    ("message", "fact", "quote"),
    [
        ("we have 4 hens, no wait, 5", "Has 4 hens", "we have 4 hens"),
        ("I work for Bosch sorry Siemens", "Works for Bosch", "I work for Bosch"),
        ("I work for Bosch sorry Siemens", "Works for Bosch sorry Siemens", "I work for Bosch sorry Siemens"),
        ("we live in delft. well, leiden actually", "Lives in delft", "we live in delft"),
        ("soy alérgico al polen... no, al polvo", "Alérgico al polen", "soy alérgico al polen"),
        ("my bike is a Trek – no, a Giant", "Bike is a Trek", "my bike is a Trek"),
        ("vivimos en Lugo, perdón, en Vigo", "Vive en Lugo", "vivimos en Lugo"),
        ("tengo tres perros, digo, cuatro", "Tiene tres perros", "tengo tres perros"),
        ("אנחנו גרים בעכו, בעצם בנהריה", "גרים בעכו", "אנחנו גרים בעכו"),
        ("I sold the company. just kidding", "Sold the company", "I sold the company"),
        ("me caso mañana, es broma", "Se casa mañana", "me caso mañana"),
        ("my code is blue, off the record", "Code is blue", "my code is blue"),
        ("I wear a wig, please don't note that down", "Wears a wig", "I wear a wig"),
        ("uso peluca, no lo apuntes", "Usa peluca", "uso peluca"),
        ("אני חובשת פאה, אל תרשמי", "חובשת פאה", "אני חובשת פאה"),
    ],
)
def test_what_is_taken_back_in_the_same_breath_is_not_kept(message, fact, quote):
    assert why_not(message, fact, quote) is not None


@pytest.mark.spec("W-9")
@for_each(
    ("message", "fact", "quote"),
    [
        ("we have 4 hens, no wait, 5", "Has 5 hens", "we have 4 hens, no wait, 5"),
        ("I live in Ghent, sorry for the late answer", "Lives in Ghent", "I live in Ghent"),
        ("I live in Ghent. well done by the way", "Lives in Ghent", "I live in Ghent"),
        ("I don't remember if I said it: I'm a beekeeper", "Beekeeper", "I'm a beekeeper"),
        ("please remember I hate mint", "Hates mint", "I hate mint"),
    ],
)
def test_the_corrected_value_and_what_only_sounds_like_a_correction_are_kept(message, fact, quote):
    assert why_not(message, fact, quote) is None


@pytest.mark.spec("W-9")
@for_each(
    ("message", "fact", "following"),
    [
        ("we have 4 hens", "Has 4 hens", "oops 5"),
        ("we have 4 hens", "Has 4 hens", "no sorry 5"),
        ("we have 4 hens", "Has 4 hens", "5 sorry, one hatched today"),
        ("I work for Bosch", "Works for Bosch", "no, Siemens"),
        ("my aunt is called Ruth", "Aunt is called Ruth", "wait no it's Judith, Ruth is her cousin"),
        ("vivimos en Lugo", "Vive en Lugo", "no, en la capital"),
        ("אנחנו גרים בעכו", "גרים בעכו", "לא, בנהריה"),
        ("we live in Delft", "Lives in Delft", "*Leiden"),
        ("my surname is Novak", "Surname is Novak", "it's not Novak, it's Nowak"),
        ("my flight is at 6", "Flight is at 6", "7 not 6"),
        ("my shoe size is 8", "Shoe size is 8", "typo, 9"),
        ("I'm colour blind", "Colour blind", "I mean my brother, not me"),
        ("vivimos en Lugo", "Vive en Lugo", "perdona, en Vigo"),
        ("אנחנו גרים בעכו", "גרים בעכו", "סליחה נהריה"),
        ("I wear a wig", "Wears a wig", "don't save that"),
        ("I sold the company", "Sold the company", "just kidding lol"),
    ],
)
def test_the_next_message_takes_back_what_this_one_said(message, fact, following):
    assert why_not(message, fact, message, following=following) is not None
    assert corrects(following) or "kidding" in following


@pytest.mark.spec("W-9")
@for_each(
    "following",
    [
        "thanks!",
        "what about Saturday?",
        "sorry for writing so late",
        "and a rooster",
        "",
        "no, thanks",
        "nope, all good",
        "no, tomorrow",
        "no, gracias",
        "לא, תודה",
        "no, no idea",
    ],
)
def test_another_next_message_takes_nothing_back(following):
    assert why_not("we have 4 hens", "Has 4 hens", "we have 4 hens", following=following) is None


@pytest.mark.spec("P-2")
@for_each(
    ("text", "quote"),
    [
        ("Voice mail pin is 4417", "my voice mail pin is 4417"),
        ("Tiene epilepsia", "tengo epilepsia"),
        ("Goes to the clinic", "I get chemotherapy at the clinic"),
        ("מוסלמי", "אני מוסלמי"),
    ],
)
def test_what_the_tables_hold_to_be_sensitive_is_so_whatever_the_reader_says(text, quote):
    assert sensitive_beyond(text, quote, marked=False)


@pytest.mark.spec("P-2")
def test_what_the_reader_holds_to_be_sensitive_is_so_whatever_the_tables_say():
    assert sensitive_beyond("Likes tea", "I like tea", marked=True)
    assert not sensitive_beyond("Likes tea", "I like tea", marked=False)


@pytest.mark.spec("W-9")
@for_each("text", ["I don't remember where I live", "I never save money", "¿no lo recuerdas?", "אני לא זוכר"])
def test_who_tells_of_remembering_asks_for_nothing(text):
    assert not asks_not_to_keep(text)


@pytest.mark.spec("W-3")
@for_each("text", ["(" * 5_000, "sorry " * 3_000, "not " * 5_000, "my dad says: " * 1_000, "א" * 20_000, "\ud83d"])
def test_a_strange_message_takes_no_time(text):
    assert why_not(f"{text} I like tea", "Likes tea", "I like tea") in (None, *_REASONS)


@pytest.mark.spec("W-3", "W-9")
@for_each(
    ("message", "fact", "quote"),
    [
        # nobody, none, no more
        ("nobody in my family smokes", "Smokes in the family", "in my family smokes"),
        ("sin gluten no, yo como de todo", "Come sin gluten", "sin gluten"),
        ("none of us eat pork", "Eats pork", "us eat pork"),
        ("I failed to quit smoking", "Quit smoking", "I failed to quit smoking"),
        ("there's no way I'm diabetic", "Diabetic", "I'm diabetic"),
        ("nadie de mi casa trabaja los lunes", "En casa trabajan los lunes", "mi casa trabaja los lunes"),
        ("אף אחד מהילדים שלי לא אוכל דגים", "אוכל דגים", "אוכל דגים"),
        ("de pequeño era alérgico a la leche", "Alérgico a la leche", "alérgico a la leche"),
        ("כשהייתי קטן הייתי אלרגי לחלב", "אלרגי לחלב", "אלרגי לחלב"),
        # somebody else's
        ("my landlord drives a Tesla", "Drives a Tesla", "drives a Tesla"),
        ("השכן שלי נגר", "נגר", "נגר"),
        ("mi compañero de piso es vegano", "Vegano", "vegano"),
        ("our neighbours own a caravan", "Owns a caravan", "own a caravan"),
        ("mi hija quiere un gato", "Quiere un gato", "quiere un gato"),
        # another's thought of the person
        ("my boss thinks I live in Bristol", "Lives in Bristol", "I live in Bristol"),
        ("he put on the form that I'm a widow", "Widow", "I'm a widow"),
        ("mi suegra dice que estoy gordo", "Gordo", "estoy gordo"),
        ("según mi jefe soy un vago", "Es un vago", "soy un vago"),
        ("כולם חושבים שאני רווקה", "רווקה", "שאני רווקה"),
        ("people always mistake me for a Scot", "Scottish", "a Scot"),
        ("I told him I'm from Texas", "From Texas", "I'm from Texas"),
        ("translate to French: I have two sisters", "Has two sisters", "I have two sisters"),
        # what is not so yet, or never
        ("do I look like I own a yacht?", "Owns a yacht", "I own a yacht"),
        ("what would you say if I moved to Peru?", "Moved to Peru", "I moved to Peru"),
        ("I'd love to live in Kyoto one day", "Lives in Kyoto", "live in Kyoto"),
        ("I want to learn Greek before I'm 50", "Is 50", "I'm 50"),
        ("quiero aprender árabe", "Aprende árabe", "aprender árabe"),
        ("הייתי רוצה לגור ביפו", "גר ביפו", "לגור ביפו"),
        ("they offered me a job at Nestlé but I said no", "Has a job at Nestlé", "a job at Nestlé"),
        ("I weigh seventy two", "Weighs 70", "I weigh seventy two"),
    ],
)
def test_what_governs_the_quote_from_before_it_is_not_cut_off(message, fact, quote):
    assert why_not_at_once(message, fact, quote) is not None


@pytest.mark.spec("W-3")
@for_each(
    ("message", "fact", "quote"),
    [
        ("I rent for nine hundred a month", "Rents for 900 a month", "I rent for nine hundred a month"),
        ("tengo cuarenta y dos años", "Tiene 42 años", "tengo cuarenta y dos años"),
        ("אני משלמת תשע מאות שכר דירה", "משלמת 900 שכר דירה", "אני משלמת תשע מאות שכר דירה"),
        ("we have twenty-two goats", "Has 22 goats", "we have twenty-two goats"),
        ("did I mention I'm a vegetarian?", "Vegetarian", "I'm a vegetarian"),
        ("I told you I'm allergic to latex", "Allergic to latex", "I'm allergic to latex"),
        ("my problem is that I work weekends", "Works weekends", "I work weekends"),
        ("it turns out that I'm colour blind", "Colour blind", "I'm colour blind"),
        ("el médico dice que tengo anemia", "Tiene anemia", "tengo anemia"),
        ("resulta que soy celíaca", "Celíaca", "soy celíaca"),
        ("מסתבר שאני עיוור צבעים", "עיוור צבעים", "שאני עיוור צבעים"),
        ("I want to learn Greek", "Wants to learn Greek", "I want to learn Greek"),
        ("the landlord put the rent up to 1,100", "Rent is 1100", "the landlord put the rent up to 1,100"),
        ("nobody knows it, but I'm pregnant", "Pregnant", "I'm pregnant"),
        ("I'm convinced I'm lactose intolerant", "Lactose intolerant", "I'm lactose intolerant"),
        ("אשתי רופאה", "אשתו רופאה", "אשתי רופאה"),
        ("mi hermano y yo llevamos un bar", "Lleva un bar con su hermano", "mi hermano y yo llevamos un bar"),
    ],
)
def test_what_the_person_says_of_themselves_in_other_clauses_is_believed(message, fact, quote):
    assert why_not(message, fact, quote) is None


_REASONS = ("is another's words", "leaves out that it is not so", "was corrected", "is pasted", "is a mere idea")
