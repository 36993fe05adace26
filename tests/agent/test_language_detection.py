"""People are answered in the language they write."""

import threading

import pytest

from langmem_plugin import PhoneMemory
from langmem_plugin.agent.replying.language_detection import replies_for, written_in
from langmem_plugin.agent.replying.reply_texts import replies_in
from langmem_plugin.people.person_settings import PersonSettings
from langmem_plugin.settings import Settings

ERIN, JASON = "+972501234567", "+12125550123"

WRITTEN = {
    "en": [
        *(
            "hello there",
            "what is the weather like?",
            "find me a recipe",
            "Thanks!",
            "I want the second one",
            "order it",
        ),
        *("/remember I drink tea", "yes please", "Good morning", "Can you help me with dinner?", "don't do that"),
        *("remember that my café is closed", "What did Señor López say to you about the house?", "thank you"),
    ],
    "he": [
        *(
            "שלום",
            "מה שלומך?",
            "תמצא לי מתכון",
            "/זכור אני שותה תה",
            "/remember אני שותה תה",
            "כן",
            "תזמין pizza בבקשה",
        ),
        *("👍 תודה", "/עזרה", "לא"),
    ],
    "es": [
        *("hola", "¿qué tiempo hace?", "búscame una receta", "Gracias!", "quiero el segundo", "buenos días", "sí"),
        *(
            "/recordar",
            "/ayuda",
            "/remember compro leche para mi hijo",
            "¿Dónde está?",
            "mañana",
            "no me gusta el pescado",
        ),
    ],
    None: [
        *(
            "/reset",
            "👍",
            "ok",
            "no",
            "2",
            "",
            "   ",
            "/forget 12345678",
            "https://example.com/the/best",
            "Anna",
            "pizza",
        ),
        *(
            "\ud800",
            "\x00",
            "日本語です",
            "Привет, как дела?",
            "Je ne sais pas où est la gare",
            "não sei onde está",
            "/5",
        ),
        *("the@and.com", "Guten Morgen, ich bin nicht da", "\u200f", "🙂" * 500),
    ],
}


@pytest.mark.spec("U-2")
def test_the_language_of_a_text_is_known_where_it_is_clear():
    wrong = [(text, found) for key, texts in WRITTEN.items() for text in texts if (found := written_in(text)) != key]
    assert wrong == []


@pytest.fixture
def people(database_url, clock, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as memory:
        yield memory.people


@pytest.mark.spec("U-2")
def test_a_text_that_says_nothing_is_answered_in_the_language_before(people):
    assert replies_for(people, ERIN, "👍") is replies_in("en")
    assert replies_for(people, ERIN, "שלום") is replies_in("he")
    assert replies_for(people, ERIN, "/reset") is replies_in("he")
    assert replies_for(people, ERIN, "/instructions always answer in English") is replies_in("en")
    assert replies_for(people, ERIN, "https://a.example/one/two/three TestCorp") is replies_in("he")
    assert replies_for(people, JASON, "/reset") is replies_in("en")
    assert replies_for(people, ERIN, "¿qué tal?") is replies_in("es")
    assert replies_for(people, ERIN, "2") is replies_in("es")


@pytest.mark.spec("U-2")
def test_of_whom_nothing_is_known_the_setting_decides(database_url, clock, offline_model):
    settings = Settings(language="he")
    with PhoneMemory(database_url, settings=settings, embeddings=offline_model, now=clock) as memory:
        assert memory.command(ERIN, "/memories") == replies_in("he").no_memories


@pytest.mark.spec("U-2")
def test_the_language_outlives_a_restart_and_is_written_only_when_it_changes(database_url, clock, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as memory:
        for _ in range(3):
            replies_for(memory.people, ERIN, "שלום, מה שלומך?")
        write, writes = memory.database.write, []

        def noted(*args, **kwargs):
            if threading.current_thread() is threading.main_thread():  # others index past sessions meanwhile
                writes.append(args)
            return write(*args, **kwargs)

        memory.database.write = noted
        replies_for(memory.people, ERIN, "תודה רבה")
        assert writes == []
        replies_for(memory.people, ERIN, "good morning to you")
        assert len(writes) == 1
        replies_for(memory.people, ERIN, "תודה רבה")
        del memory.database.write

    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as memory:
        assert memory.command(ERIN, "/memories") == replies_in("he").no_memories


@pytest.mark.spec("P-8", "U-2")
def test_without_a_memory_nothing_is_queried_and_the_language_is_known_for_the_process(tmp_path, monkeypatch):
    settings = Settings(enable_memory_system=False)
    with PhoneMemory(f"sqlite:///{tmp_path}/none.db", settings=settings) as memory:
        monkeypatch.setattr(memory.database, "read", None)
        monkeypatch.setattr(memory.database, "write", None)
        assert memory.command(ERIN, "/זכור אני שותה תה") == replies_in("he").memory_disabled
        assert memory.command(ERIN, "/help").startswith("/איפוס")


@pytest.mark.spec("M-14", "U-2")
def test_while_the_database_is_down_the_language_of_the_message_is_still_answered(tmp_path, clock):
    from langmem_plugin.errors import StoreUnavailable

    class Down:
        def read(self, *_, **__):
            raise StoreUnavailable("down")

        write = first = select = read

    settings = PersonSettings(Down(), Settings())

    assert replies_for(settings, ERIN, "שלום לך") is replies_in("he")
    assert replies_for(settings, ERIN, "/reset") is replies_in("en")
