"""What is a command with a slash, and what belongs to the agent."""

import pytest

from langmem_plugin.agent.commands.recognition import CommandName, cleaned, typed
from tests.cases import for_each

ERIN = "+972501234567"
REMEMBERED = "✅ Remembered: I drink tea"


@pytest.mark.slow
@pytest.mark.spec("U-2", "W-1")
@for_each(
    "text",
    [
        "/remember I drink tea",
        "/remember\nI drink tea",
        "/remember\r\nI drink tea",
        "/remember\tI drink tea",
        "/remember\u00a0I drink tea",
        "  /remember   I drink tea  ",
        "\u200f/remember I drink tea",
        "\u200e\ufeff/remember I drink tea\u200f",
        "/\u200fremember I drink tea",
        "/Remember I drink tea",
        "/REMEMBER: I drink tea",
        "/remember@mom_bot I drink tea",
        "／remember I drink tea",
        "\x07/remember I drink\x08 tea",
        "/remember that I drink tea",
    ],
)
def test_a_command_is_known_whatever_white_space_is_around_it(memory, text):
    assert memory.commands.knows(text)
    assert memory.command(ERIN, text) == REMEMBERED


@pytest.mark.spec("U-2")
@for_each(
    ("text", "answer"),
    [
        ("/זכור אני שותה תה", "✅ נזכר: אני שותה תה"),
        ("/recordar bebo té", "✅ Recordado: bebo té"),
        ("/RECORDAR bebo té", "✅ Recordado: bebo té"),
        ("/recuerda que bebo té", "✅ Recordado: bebo té"),
        ("/זכור שאני שותה תה", "✅ נזכר: אני שותה תה"),
        ("/זכור שרה שותה תה", "✅ נזכר: שרה שותה תה"),
        ("/remember that guy owes me ₪50", "✅ Remembered: that guy owes me ₪50"),
        ("/ayuda", "/recordar <dato>"),
        ("/עזרה", "/זכור <עובדה>"),
        ("/olvidar perro", "No recuerdo nada como “perro”"),
        ("/buscar perro", "No encontré nada"),
        ("/instrucción sé breve", "✅ A partir de ahora: sé breve"),
        ("/zona-horaria Madrid", "Europe/Madrid"),
        ("/zona horaria Madrid", "Europe/Madrid"),
        ("/time zone Madrid", "Europe/Madrid"),
        ("/אזור זמן ירושלים", "Asia/Jerusalem"),
        ("/por qué", "¿Qué explico?"),
        ("/recuerdo", "Todavía no recuerdo nada"),
        ("/זיכרון", "אני עדיין לא זוכר כלום"),
        ("/זכור שהבת שלי שותה תה", "✅ נזכר: הבת שלי שותה תה"),
        ("/forget all", "Shall I delete everything"),
        ("/forget Everything!", "Shall I delete everything"),
        ("/olvidar todo", "¿Borro todo"),
        ("/שכח הכל", "למחוק הכול"),
        ("/אזור_זמן ירושלים", "Asia/Jerusalem"),
    ],
)
def test_commands_are_known_in_the_languages_that_people_write(memory, text, answer):
    assert answer in memory.command(ERIN, text)


FOR_THE_AGENT = [
    *(
        "/rember x",
        "/research paper on tea",
        "/etc/hosts",
        "/etc",
        "/s",
        "/r",
        "/shrug",
        "/5",
        "/5/12",
        "/",
        "//",
        "/ remember x",
    ),
    *("/hello", "/start", "/settings", "/imagine a cat", "/me waves", "/rem", "/re", "/usr/bin/env python", "/gif cat"),
    *(
        "/search/x",
        "/remember/x",
        "/order pizza",
        "/record a video",
        "/remind me",
        "/story",
        "/tmp",
        "/home",
        "/find x",
    ),
    *(
        "s/tea/coffee",
        "1/2 cup",
        "and/or",
        "remember me",
        "forget",
        "help",
        "reset",
        "https://a.b/remember",
        ":/",
        "/:",
    ),
    *(
        "/3.14",
        "/remember-me-not x",
        "/q",
        "/forgetmenot",
        "/pray 🙏",
        "-/remember x",
        "/😀",
        "/שלום",
        "/hola",
        "",
        "   ",
    ),
]


@pytest.mark.spec("U-2")
def test_what_only_looks_like_a_command_belongs_to_the_agent(memory):
    taken = [each for each in FOR_THE_AGENT if memory.command(ERIN, each) is not None or memory.commands.knows(each)]
    assert taken == []


def test_every_command_has_a_word_in_every_language():
    names = set(CommandName.__args__)
    for words in (("/help", "/עזרה", "/ayuda"), ("/undo", "/בטל", "/deshacer"), ("/reset", "/איפוס", "/reiniciar")):
        assert len({typed(cleaned(word)).command for word in words} & names) == 1
