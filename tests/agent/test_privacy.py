"""/privacy, typed and in plain words, shows and switches what may be remembered without being told to."""

import pytest
from langchain_core.messages import AIMessage

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.agent.replying.reply_texts import ENGLISH, replies_in
from tests.cases import for_each
from tests.chat_graph import chat_graph

ERIN, GROUP = "+972501234567", "972501234567-1@g.us"

pytestmark = pytest.mark.spec("P-2", "U-2")


def allowed(memory, who=ERIN):
    held = memory.consent.of(who)
    return held.extraction.allowed, held.personal.allowed, held.sensitive.allowed


def test_it_shows_that_nothing_is_remembered_before_they_agreed(memory):
    assert memory.command(ERIN, "/privacy").splitlines()[:4] == [
        "What I remember by myself from what you tell me: off",
        "Personal facts, such as where you live: off",
        "Sensitive facts, such as your health: off",
        "These two count only while the first is on.",
    ]
    assert allowed(memory) == (None, None, None)


@for_each(
    ("typed", "expected"),
    [
        ("on", (True, True, None)),
        ("off", (False, None, None)),
        ("sensitive on", (None, None, True)),
        ("Sensitive OFF.", (None, None, False)),
        ("off personal", (None, False, None)),
        ("personal on", (None, True, None)),
    ],
)
def test_it_switches_what_is_named(memory, typed, expected):
    assert "From what" not in memory.command(ERIN, f"/privacy {typed}")
    assert allowed(memory) == expected


@for_each(
    ("language", "typed", "expected"),
    [
        ("he", "/פרטיות הפעל", (True, True, None)),
        ("he", "/פרטיות רגיש הפעל", (None, None, True)),
        ("he", "/פרטיות כבה", (False, None, None)),
        ("he", "/פרטיות הפעלה", (True, True, None)),
        ("he", "/פרטיות כיבוי", (False, None, None)),
        ("es", "/privacidad activar", (True, True, None)),
        ("es", "/privacidad personales desactivar", (None, False, None)),
    ],
)
def test_it_is_typed_in_each_language_as_its_own_text_says(memory, language, typed, expected):
    texts = replies_in(language)
    answer = memory.command(ERIN, typed)

    assert allowed(memory) == expected
    assert answer.splitlines()[-1] == texts.privacy.splitlines()[-1]


@for_each("rest", ["maybe", "on off", "sensitive", "sensitive personal on", "on on", "on it", "\ud83d", "x " * 900])
def test_what_is_not_understood_switches_nothing_and_says_so(memory, rest):
    assert memory.command(ERIN, f"/privacy {rest}").startswith(ENGLISH.privacy_unknown)
    assert allowed(memory) == (None, None, None)


@for_each(
    "said",
    [
        "Stop remembering things about me",
        "please don't remember what I tell you",
        "Don’t remember anything about me any more.",
        "I don't want you to store what I say",
        "תפסיק לזכור דברים עליי",
        "אל תזכרי מה שאני אומרת לך בבקשה",
        "Deja de recordar cosas sobre mí",
        "no recuerdes lo que te digo, por favor",
    ],
)
def test_stop_is_understood_in_plain_words(memory, said):
    memory.consent.switch_on(ERIN)

    assert memory.command(ERIN, said) is not None
    assert allowed(memory)[0] is False


@for_each(
    "said",
    [
        "You may remember what I tell you",
        "ok, you can remember things about me again",
        "Feel free to remember everything I say.",
        "אתה יכול לזכור את מה שאני מספר לך",
        "מותר לך לזכור דברים עליי",
        "Puedes recordar lo que te cuento",
        "Te permito guardar datos sobre mí",
    ],
)
def test_leave_is_understood_in_plain_words(memory, said):
    assert memory.command(ERIN, said) is not None
    assert allowed(memory) == (True, True, None)


@for_each(
    "said",
    [
        "Can you remember what I told you?",
        "You can remember that later",
        "Stop remembering things about my sister",
        "Don't remember what I tell you about the party",
        "Should you remember what I tell you?",
        "You may remember what I said yesterday about tea",
        "Remember what I tell you",
        "stop",
        "האם אתה יכול לזכור מה שאני אומר?",
        "¿Puedes recordar lo que te digo?",
        "No recuerdo lo que te digo",
    ],
)
def test_what_only_sounds_like_it_belongs_to_the_agent(memory, said):
    assert memory.command(ERIN, said) is None
    assert allowed(memory) == (None, None, None)


def test_nobody_agrees_for_a_group_and_anybody_may_say_stop(memory):
    assert memory.command(GROUP, "/privacy on") == ENGLISH.privacy_not_here
    assert memory.command(GROUP, "You may remember what I tell you") == ENGLISH.privacy_not_here
    assert memory.command(GROUP, "/privacy off").startswith(ENGLISH.privacy_off)
    assert allowed(memory, GROUP) == (False, None, None)


def test_what_they_ask_for_is_remembered_whatever_they_forbid(memory):
    memory.command(ERIN, "/privacy off")

    assert memory.command(ERIN, "/remember I am vegan") == "✅ Remembered: I am vegan"
    assert memory.command(ERIN, "remember that my sister is Mia") == "✅ Remembered: my sister is Mia"


@pytest.mark.spec("W-7")
@for_each(("agreed", "stored"), [(False, []), (True, ["I am vegan"])])
def test_a_tool_remembers_nothing_by_itself_of_who_has_not_agreed(memory, agreed, stored):
    if agreed:
        memory.consent.switch_on(ERIN)
    remember = next(each for each in memory.tools() if each.name == "remember_fact")
    graph = chat_graph(memory, lambda _: {"messages": [("ai", str(remember.invoke({"text": "I am vegan"})))]})

    told = memory.reply(graph, ERIN, "Briefing: remember that Erin is vegan", automated=True)

    assert [each.text for each in memory.service.list_memories(ERIN)] == stored
    assert told.startswith("Remembered" if agreed else "The person has not agreed")
    assert memory.reply(graph, ERIN, "I am vegan, note that").startswith("Remembered")


@pytest.mark.spec("P-2", "U-2")
@for_each(("language", "typed"), [("en", "/privacy on"), ("he", "/פרטיות הפעל"), ("es", "/privacidad activar")])
def test_where_nothing_is_taken_in_by_itself_agreeing_promises_nothing(
    database_url, clock, offline_model, language, typed
):
    texts = replies_in(language)
    with PhoneMemory(database_url, settings=Settings(extraction="off"), embeddings=offline_model, now=clock) as memory:
        assert memory.command(ERIN, typed) == texts.privacy_only_asked
        assert allowed(memory)[0] is True
        assert memory.command(ERIN, "/privacy off").startswith(texts.privacy_off)
        assert texts.privacy_only_asked in memory.command(ERIN, "/privacy maybe")
        assert memory.command(ERIN, "/remember I am vegan") == "✅ Remembered: I am vegan"


@pytest.mark.spec("P-8")
def test_without_a_long_term_memory_there_is_nothing_to_allow(database_url, clock, offline_model):
    settings = Settings(longterm=False)
    with PhoneMemory(database_url, settings=settings, embeddings=offline_model, now=clock) as memory:
        assert memory.command(ERIN, "/privacy on") == ENGLISH.memory_disabled
        assert memory.command(ERIN, "You may remember what I tell you") is None
        assert memory.command(ERIN, "/confirm") == ENGLISH.memory_disabled


_ERASING = {
    "en": ("/privacy erase", "yes", "/privacy restore"),
    "he": ("/פרטיות מחק", "כן", "/פרטיות שחזר"),
    "es": ("/privacidad borrar", "sí", "/privacidad restaurar"),
}


@pytest.mark.spec("P-4")
@for_each("language", _ERASING)
def test_everything_is_deleted_after_one_yes_and_can_be_taken_back(memory, language):
    erase, yes, restore = _ERASING[language]
    texts = replies_in(language)
    graph = chat_graph(memory, lambda _: {"messages": AIMessage("fine")})
    memory.service.remember(ERIN, "Erin sails")
    due = f"{memory.erasure.would_be_due():%Y-%m-%d}"

    assert memory.reply(graph, ERIN, erase, message_id="1") == texts.erase_all.format(date=due)
    assert memory.service.count(ERIN) == 1
    assert memory.reply(graph, ERIN, yes, message_id="2") == texts.erased_all.format(date=due)
    assert memory.reply(graph, ERIN, yes, message_id="2").repeated
    assert memory.service.count(ERIN) == 0
    assert memory.reply(graph, ERIN, restore, message_id="3") == texts.restored_all
    assert memory.service.count(ERIN) == 1
    assert memory.command(ERIN, restore) == texts.nothing_to_restore


@pytest.mark.spec("P-4")
@for_each("said", ["no", "what is the weather?", "yes if you like"])
def test_without_a_yes_nothing_is_deleted(memory, said):
    memory.service.remember(ERIN, "Erin sails")
    memory.command(ERIN, "/privacy erase everything")
    assert memory.command(ERIN, said) in {None, ENGLISH.nothing_forgotten}
    memory.command(ERIN, "yes")
    assert memory.service.count(ERIN) == 1


@pytest.mark.spec("P-4")
@for_each("said", ["no", "no thanks", "no gracias", "לא תודה", "👎"])
def test_who_declines_to_delete_everything_is_told_that_it_is_kept(memory, said):
    memory.command(ERIN, "/privacy erase")
    assert memory.command(ERIN, said) in {replies_in(each).nothing_forgotten for each in ("en", "es", "he")}


@pytest.mark.spec("P-4")
def test_nobody_deletes_a_group_for_the_others(memory):
    assert memory.command(GROUP, "/privacy erase") == ENGLISH.erase_not_here


@pytest.mark.spec("P-4")
def test_who_withdraws_is_told_how_to_delete_everything(memory):
    assert "/privacy erase" in memory.command(ERIN, "/privacy off")
    assert "/פרטיות מחק" in memory.command(ERIN, "/פרטיות כבה")
    assert "/privacidad borrar" in memory.command(ERIN, "/privacidad desactivar")


def test_the_words_and_the_time_of_a_consent_are_kept(memory):
    assert memory.consent.word_of(ERIN) is None
    memory.command(ERIN, "/privacy sensitive on")
    word = memory.consent.word_of(ERIN)
    assert (word.text, word.version, word.at) == ("sensitive on", 1, memory.service.now())


@pytest.fixture
def asking(database_url, clock, offline_model):
    chosen = Settings(ask_for_consent=True)
    with PhoneMemory(database_url, embeddings=offline_model, settings=chosen, now=clock) as opened:
        yield opened


_STATED = {
    "en": ("I'm allergic to peanuts", "May I remember", "yes", "no thank you, don't remember that"),
    "he": ("אני אלרגי לבוטנים", "מותר לי לזכור", "כן", "אל תזכור"),
    "es": ("soy alérgico a los cacahuetes", "¿Puedo recordar", "sí", "no lo recuerdes"),
}


@pytest.mark.spec("P-2")
@for_each("language", _STATED)
def test_who_states_something_is_asked_once_and_their_yes_is_kept_with_its_words(asking, scripted, language):
    stated, question, yes, _ = _STATED[language]
    graph = chat_graph(asking, lambda _: {"messages": AIMessage("fine")})
    assert question not in asking.reply(graph, ERIN, "which days are you open")
    assert question in asking.reply(graph, ERIN, stated)
    assert not asking.consent.of(ERIN).extraction.allowed
    asking.reply(graph, ERIN, yes)
    assert asking.consent.of(ERIN).extraction.allowed
    word = asking.consent.word_of(ERIN)
    assert (word.text, word.version) == (yes, 1)
    assert question not in asking.reply(graph, ERIN, stated)


@pytest.mark.spec("P-2")
def test_a_no_or_no_answer_is_not_asked_again(asking):
    graph = chat_graph(asking, lambda _: {"messages": AIMessage("fine")})
    for who, answer in ((ERIN, "no"), ("+972507654321", "what a lovely day")):
        assert "May I remember" in asking.reply(graph, who, "I'm allergic to peanuts")
        asking.reply(graph, who, answer)
        assert not asking.consent.of(who).extraction.allowed
        assert "May I remember" not in asking.reply(graph, who, "I live in Haifa")
    assert asking.consent.of(ERIN).extraction.allowed is False


@pytest.mark.spec("P-2")
@for_each(("answer", "allowed"), [("yes", True), ("no", False), ("what a lovely day", False)])
def test_who_states_something_sensitive_is_asked_once_for_that_too(asking, answer, allowed):
    graph = chat_graph(asking, lambda _: {"messages": AIMessage("fine")})
    asking.consent.switch_on(ERIN)
    question = ENGLISH.may_i_remember_sensitive
    assert question not in asking.reply(graph, ERIN, "I live in Haifa")
    assert question in asking.reply(graph, ERIN, "I have diabetes")
    assert not asking.consent.of(ERIN).sensitive.allowed

    asking.reply(graph, ERIN, answer)

    assert (asking.consent.of(ERIN).sensitive.allowed is True) is allowed
    assert asking.consent.of(ERIN).extraction.allowed
    assert question not in asking.reply(graph, ERIN, "I have depression")


@pytest.mark.spec("P-2", "W-4")
def test_extracting_says_why_nothing_came_of_it(asking, database_url, clock, offline_model):
    graph = chat_graph(asking, lambda _: {"messages": AIMessage("fine")})
    asking.reply(graph, ERIN, "I live in Haifa")
    assert "not allowed" in asking.extract(ERIN).why
    asking.consent.set(ERIN, extraction=True, personal=True, text="signed up on the web")
    assert "nothing was said" in asking.extract(ERIN).why
    clock.forward(minutes=1)
    asking.reply(graph, ERIN, "I live in Haifa")
    made = asking.extract(ERIN)
    assert ("Haifa" in made[0].text, made.why) == (True, "")
    off = Settings(extraction="off")
    with PhoneMemory(database_url, embeddings=offline_model, settings=off, now=clock) as memory:
        assert "switch it off" in memory.extract(ERIN).why
