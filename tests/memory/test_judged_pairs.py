"""What a text does to what is known where no rule is sure: judged by fitted weights, and nothing is lost silently."""

import pytest

OWNER = "anna"


def stored(memory, memory_id):
    with memory.database.read() as connection:
        return memory.repository.by_id(connection, OWNER, memory_id)


SAID_AGAIN = [
    ("I sing in the harbour choir on Monday evenings", "monday evenings it's the harbour choir for me"),
    ("We pay 14.50 a month for boiler cover", "boiler cover: 14.50 monthly"),
    ("La llave del trastero la tiene Begoña", "Begoña tiene la llave del trastero"),
    ("המפתח של המרתף אצל יונתן", "יונתן מחזיק את המפתח של המרתף"),
]
CHANGED = [
    ("Our window cleaner is Desmond", "Desmond has retired, Lloyd cleans our windows now"),
    ("Leila has drum lessons on Fridays", "Leila's drum lessons moved to Sundays"),
    ("The cellar key hangs behind the boiler", "I moved the cellar key, it's in the kitchen drawer now"),
    ("La llave del trastero la tiene Begoña", "la llave del trastero ya no la tiene Begoña, está en la cocina"),
    ("My brother Theo lives in Leeds", "Theo has moved to York"),
    ("המפתח של המרתף אצל יונתן", "לקחתי את המפתח של המרתף מיונתן, עכשיו הוא אצלי"),
]
BOTH_SO = [
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


@pytest.mark.spec("W-6")
@pytest.mark.parametrize(("known", "told"), SAID_AGAIN)
def test_what_is_said_again_in_other_words_is_known(memory, known, told):
    first = memory.remember(OWNER, known)
    again = memory.remember(OWNER, told)
    assert (again.outcome, again.id, again.text) == ("duplicate", first.id, known)


@pytest.mark.spec("W-6")
@pytest.mark.parametrize(("known", "told"), CHANGED)
def test_what_has_changed_takes_the_place_of_what_was_so_which_is_kept_as_history(memory, known, told):
    first = memory.remember(OWNER, known)
    made = memory.remember(OWNER, told)
    assert (made.outcome, made.concerned) == ("superseded", (first.id,))
    old = stored(memory, first.id)
    assert (old.status, old.superseded_by, old.text) == ("superseded", made.id, known)
    assert old.valid_to is not None


@pytest.mark.spec("W-6")
@pytest.mark.parametrize(("known", "told"), BOTH_SO)
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
