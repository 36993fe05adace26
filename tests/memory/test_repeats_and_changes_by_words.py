"""A text against what is known where no rule is sure: it repeats it, changes it, or stands beside it."""

import pytest

from tests.cases import for_each

OWNER = "anna"


def stored(memory, memory_id):
    with memory.database.read() as connection:
        return memory.repository.by_id(connection, OWNER, memory_id)


SAID_AGAIN = [
    ("Leo is diabetic", "Leo has diabetes"),
    ("Mi suegro es asmático", "Mi suegro tiene asma"),
    ("Dana is lactose intolerant", "Dana has lactose intolerance"),
    ("Anna is allergic to peanuts", "Anna has a peanut allergy"),
    ("Anna has a peanut allergy", "Anna is allergic to peanuts"),
    ("Mia es alérgica a las nueces", "Mia tiene alergia a las nueces"),
    ("I sing in the harbour choir on Monday evenings", "monday evenings it's the harbour choir for me"),
    ("We pay 14.50 a month for boiler cover", "boiler cover: 14.50 monthly"),
    ("La llave del trastero la tiene Begoña", "Begoña tiene la llave del trastero"),
    ("המפתח של המרתף אצל יונתן", "יונתן מחזיק את המפתח של המרתף"),
]
CHANGED = [
    ("Locker 3 of the hall has the code 4711", "Locker 3 of the hall now has the code 5822"),
    ("The meeting is at gate 3", "The meeting moved to gate 5"),
    ("Our window cleaner is Desmond", "Desmond has retired, Lloyd cleans our windows now"),
    ("Leila has drum lessons on Fridays", "Leila's drum lessons moved to Sundays"),
    ("The cellar key hangs behind the boiler", "I moved the cellar key, it's in the kitchen drawer now"),
    ("La llave del trastero la tiene Begoña", "la llave del trastero ya no la tiene Begoña, está en la cocina"),
    ("My brother Theo lives in Leeds", "Theo has moved to York"),
    ("המפתח של המרתף אצל יונתן", "לקחתי את המפתח של המרתף מיונתן, עכשיו הוא אצלי"),
]
BOTH_SO = [
    ("My cousin lent me her grey suitcase", "My cousin sold her grey piano"),
    ("Mi tía me prestó su mochila verde", "Mi tía vendió su coche verde"),
    ("הדודה שלי השאילה לי את המטרייה הירוקה שלה", "הדודה שלי מכרה את הרכב הירוק שלה"),
    ("Ruth has a cat called Momo", "Ruth's cat Pixel died"),
    ("I stopped eating meat last year", "I lost weight because I stopped eating sugar"),
    ("הפסקתי לאכול בשר בשנה שעברה", "ירדתי במשקל כי הפסקתי לאכול סוכר"),
    ("עומר מסיים את בית הספר בשתיים בימי שלישי", "בית הספר נסגר בשתיים בימי שישי"),
    ("The code of locker 3 is 4711", "The code of locker 4 is 5822 now"),
    ("Locker 3 of the hall has the code 4711", "Locker 4 of the hall now has the code 5822"),
    ("Noa sold a garden table at the market", "Ruth sold a garden table at the market"),
    ("Anna's son has a peanut allergy", "Anna is allergic to peanuts"),
    ("Anna is allergic to peanuts", "Anna is allergic to pine nuts"),
    ("My dog is old", "The dog limps"),
    ("The code of locker 1 is 1", "The code of locker 2 is 2"),
    ("The password of room 12 is 12", "The password of room 13 is 1313"),
    ("Anna paid 3 shekels for lamps", "Anna paid 4 shekels for lamps"),
    ("Ben owes me 50", "Ben sold his car"),
    ("I work with Dana", "Dana moved to Haifa"),
    ("My dentist is Dr. Levi", "Dr. Levi moved to Haifa"),
    ("Leila has drum lessons on Fridays", "Omar has guitar lessons on Fridays"),
    ("The cellar key hangs behind the boiler", "The attic key hangs behind the boiler"),
    ("My prescription is -2.25 in the right eye", "My prescription is -2.75 in the left eye"),
    ("Dana lent me 200", "I lent Dana 200"),
    ("We sold the old car", "We bought a new car"),
    ("The gate code of the cabin is 4410", "The gate code of the cabin is in my notebook, and so is the alarm code"),
]
UNRELATED = """
Locker 1 of the hall is on floor 1 and has the code 7|Locker 2 of the hall is on floor 2 and has the code 14|Locker 7 of the hall is on floor 1 and has the code 49
The gutter was cleaned last spring|I stopped eating bread last year|My office opens at 8:30 on Mondays|My boss is moving to Porto
The blue tent has a flat pole|We are moving to a smaller flat in June|Hannah's tutor is called Mrs Lind|The piano tutor moved to Park Lane 3
The best electrician we had was Tal|Our best customer now is the bakery|Mum plays bridge at the club|Mum has been on statins since 2019
Dad built model ships|Dad died two years ago in May|I bring my own tea because the canteen shuts at six|I quit the book club, they were never on time
Finn is allergic to cashews and carries a pen|Finn is left-handed|Finn is scared of balloons|Our oven broke, so we use the air fryer now
I take the number 12 bus because parking is hopeless|The last week of school ends in June|I have six days of leave left|Leah leaves for camp on Sunday
I'm a senior nurse in the children's ward|I'm mentoring a student called Nadia until May|The kids are picked up at half past three|I promised the kids a trip to the sea
I keep 3,000 in an account for repairs and don't touch it|I had a smoking problem and haven't touched one since 2012|Big Joe does my truck repairs
My truck insurance went up to 900 a month|I've got no chains for the truck right now|Half my left ear is deaf|I've got half a lamb left in the freezer
El tejado se arregló el año pasado|El año pasado dejé de fumar|Voy al cine los martes porque es más barato|Ahora voy a ver a mi madre los martes por la tarde
La casa del pueblo es de mi hermana y mía|Mi hermana quiere vender el coche|המקרר בבית של סבתא ישן|סבתא עברה ניתוח בשנה שעברה
יעל פסיכולוגית בבית ספר|יעל לא סובלת קפה עכשיו|החנות סגורה בשבת|הפסקתי לרוץ בשבת
""".strip()


@pytest.mark.slow
@pytest.mark.spec("W-6")
def test_of_many_facts_that_have_little_in_common_none_is_lost(memory):
    facts = [fact for line in UNRELATED.splitlines() for fact in line.split("|")]
    for fact in facts:
        memory.remember(OWNER, fact)
    assert {each.text for each in memory.list_memories(OWNER, limit=100)} == set(facts)


@pytest.mark.spec("W-6")
@for_each(("known", "told"), SAID_AGAIN)
def test_what_is_said_again_in_other_words_is_known(memory, known, told):
    first = memory.remember(OWNER, known)
    again = memory.remember(OWNER, told)
    assert (again.outcome, again.id, again.text) == ("duplicate", first.id, known)


@pytest.mark.spec("W-6")
@for_each(("known", "told"), CHANGED)
def test_what_has_changed_takes_the_place_of_what_was_so_which_is_kept_as_history(memory, known, told):
    first = memory.remember(OWNER, known)
    made = memory.remember(OWNER, told)
    assert (made.outcome, made.concerned) == ("superseded", (first.id,))
    old = stored(memory, first.id)
    assert (old.status, old.superseded_by, old.text) == ("superseded", made.id, known)
    assert old.valid_to is not None


@pytest.mark.slow
@pytest.mark.spec("W-6")
@for_each(("known", "told"), BOTH_SO)
def test_what_can_be_so_beside_it_leaves_it_as_it_is(memory, known, told):
    first = memory.remember(OWNER, known)
    made = memory.remember(OWNER, told)
    assert made.outcome == "stored"
    assert stored(memory, first.id).status == "active"


@pytest.mark.spec("W-6")
def test_what_a_text_would_do_is_told_as_remembering_it_then_does(memory):
    known, told = CHANGED[0]
    memory.remember(OWNER, known)
    [before] = memory.related(OWNER, told)
    assert before.kind == "supersedes"
    assert memory.remember(OWNER, told).concerned == (before.memory.id,)


@pytest.mark.spec("W-6")
def test_what_waits_for_the_persons_word_replaces_only_when_they_confirm_it(memory):
    known, told = CHANGED[1]
    first = memory.remember(OWNER, known)
    waits = memory.remember(OWNER, told, status="pending")
    assert (waits.outcome, waits.concerned) == ("pending", (first.id,))
    assert stored(memory, first.id).status == "active"
    memory.update(OWNER, waits.id, status="active")
    assert stored(memory, first.id).status == "superseded"


@pytest.mark.spec("W-6")
def test_what_is_kept_under_a_key_is_replaced_through_its_key_alone(memory):
    known, told = CHANGED[1]
    memory.remember(OWNER, known, key="drums")
    assert memory.remember(OWNER, told).outcome == "stored"
