"""Chats that WhatsApp exported, from Android and iPhones, in three languages, become the sessions of one phone."""

import zipfile
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from langmem_plugin.errors import InvalidInput, UnreadableImport
from langmem_plugin.portability.imported_records import ImportedSession, Remark
from langmem_plugin.portability.sources import whatsapp
from tests.cases import for_each

ERIN = "+972501234567"
JERUSALEM = ZoneInfo("Asia/Jerusalem")


@pytest.fixture
def chat(tmp_path):
    """What is read of a chat's lines: what was said as (instant, role, text) for each session, and the bad lines."""

    def read(*lines, bot="Shop", **options):
        file = tmp_path / "WhatsApp Chat with Shop.txt"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        given = {"phone": ERIN, "silence": timedelta(minutes=30), "zone": ZoneInfo("UTC")} | options
        found = list(whatsapp.records(file, bot=bot, **given))
        sessions = [
            [
                (message.response_metadata["langmem"]["timestamp"], message.type, message.text)
                for message in each.messages
            ]
            for each in found
            if isinstance(each, ImportedSession)
        ]
        return sessions, [(each.place, each.reason) for each in found if isinstance(each, Remark)]

    return read


@pytest.mark.spec("U-9")
@for_each(
    ("layout", "zone"),
    [
        (["31/12/2023, 21:05 - {}", "31/12/2023, 21:06 - {}"], "UTC"),
        (["12/31/23, 9:05 PM - {}", "12/31/23, 9:06 PM - {}"], "UTC"),
        (["12/31/23, 9:05\u202fPM - {}", "12/31/23, 9:06\u202fPM - {}"], "UTC"),
        (["31/12/23, 9:05 p.\u00a0m. - {}", "31/12/23, 9:06 p.\u00a0m. - {}"], "UTC"),
        (["31/12/23 21:05 - {}", "31/12/23 21:06 - {}"], "UTC"),
        (["31.12.2023, 23:05 - {}", "31.12.2023, 23:06 - {}"], "Asia/Jerusalem"),
        (["\u200f31.12.2023, 11:05 אחה״צ - {}", "\u200f31.12.2023, 11:06 אחה״צ - {}"], "Asia/Jerusalem"),
        (["2023-12-31, 21:05 - {}", "2023-12-31, 21:06 - {}"], "UTC"),
        (["[31/12/2023, 21:05:00] {}", "[31/12/2023, 21:06:00] {}"], "UTC"),
        (["\u200e[31/12/23 21:05:00] {}", "[31/12/23 21:06:00] {}"], "UTC"),
        (["[12/31/23, 9:05:00\u202fPM] {}", "\ufeff[12/31/23, 9:06:00\u202fPM] {}"], "UTC"),
        (["[\u200f31.12.2023, 23:05:00] {}", "[31.12.2023, 23:06:00] {}"], "Asia/Jerusalem"),
        (["31-12-2023 21.05 – {}", "31-12-2023 21.06 – {}"], "UTC"),
    ],
)
def test_every_layout_of_date_and_time_says_the_same(chat, layout, zone):
    asked, answered = layout
    sessions, bad = chat(asked.format("Erin: Is it open?"), answered.format("Shop: Until ten."), zone=ZoneInfo(zone))

    assert bad == []
    assert sessions == [
        [
            ("2023-12-31T21:05:00+00:00", "human", "Is it open?"),
            ("2023-12-31T21:06:00+00:00", "ai", "Until ten."),
        ]
    ]


@pytest.mark.spec("U-9")
@for_each(
    "notices",
    [
        [
            "01/02/2024, 10:00 - Messages and calls are end-to-end encrypted. No one outside of this chat can read them.",
            "01/02/2024, 10:00 - Erin: <Media omitted>",
            "01/02/2024, 10:00 - Erin: This message was deleted",
            "01/02/2024, 10:00 - Shop: You deleted this message",
            "01/02/2024, 10:00 - Erin: IMG-20240201-WA0001.jpg (file attached)",
        ],
        [
            "[01/02/2024, 10:00:00] Shop: \u200eMessages and calls are end-to-end encrypted.",
            "\u200e[01/02/2024, 10:00:00] Erin: \u200eimage omitted",
            "\u200e[01/02/2024, 10:00:00] Erin: \u200eThis message was deleted.",
            "\u200e[01/02/2024, 10:00:00] Erin: \u200e<attached: 00000001-AUDIO-2024-02-01.opus>",
            "\u200e[01/02/2024, 10:00:00] Erin: \u200eMissed voice call",
        ],
        [
            "1/2/24, 10:00 - Los mensajes y las llamadas están cifrados de extremo a extremo.",
            "1/2/24, 10:00 - Erin: <Multimedia omitido>",
            "1/2/24, 10:00 - Erin: Se eliminó este mensaje.",
            "1/2/24, 10:00 - Shop: Eliminaste este mensaje.",
        ],
        [
            "1.2.2024, 10:00 - ההודעות והשיחות מוצפנות מקצה לקצה.",
            "1.2.2024, 10:00 - Erin: \u200f<המדיה לא נכללה>",
            "1.2.2024, 10:00 - Erin: הודעה זו נמחקה",
            "1.2.2024, 10:00 - Shop: מחקת הודעה זו",
        ],
    ],
    ids=["android", "iphone", "spanish", "hebrew"],
)
def test_what_nobody_typed_is_left_out(chat, notices):
    end = notices[0].split(" ")
    head = " ".join(end[:2]) + (" - " if end[2] == "-" else " ")
    sessions, bad = chat(*notices, f"{head}Erin: hello", f"{head}Shop: hi", order="day-first")

    assert bad == []
    assert [[text for _, _, text in each] for each in sessions] == [["hello", "hi"]]


@pytest.mark.spec("U-9")
def test_a_message_of_several_lines_stays_one_and_captions_stay(chat):
    sessions, bad = chat(
        "13/02/2024, 10:00 - Erin: my list:",
        "",
        "- milk: 2",
        "- 12/02 bread",
        "13/02/2024, 10:01 - Erin: IMG-1.jpg (file attached)",
        "this is the door: number 5",
        "13/02/2024, 10:02 - Shop: Noted <This message was edited>",
        "13/02/2024, 10:03 - Erin: location: https://maps.google.com/?q=32.1,34.8",
    )

    assert bad == []
    assert [text for _, _, text in sessions[0]] == [
        "my list:\n\n- milk: 2\n- 12/02 bread",
        "this is the door: number 5",
        "Noted",
        "location: https://maps.google.com/?q=32.1,34.8",
    ]


@pytest.mark.spec("U-9", "C-3")
def test_silence_begins_a_new_session_and_its_boundary_is_idle(chat):
    sessions, _ = chat(
        "13/02/2024, 10:00 - Erin: one",
        "13/02/2024, 10:29 - Shop: two",
        "13/02/2024, 10:59 - Erin: three",
    )
    assert [len(each) for each in sessions] == [2, 1]

    sessions, _ = chat("13/02/2024, 10:00 - Erin: one", "13/02/2025, 10:29 - Shop: two", silence=None)
    assert [len(each) for each in sessions] == [2]


@pytest.mark.spec("U-9")
def test_silence_is_counted_through_the_change_of_the_clock(chat):
    """On 29 March 2024 the clock goes from 2 to 3: 01:50 and 03:10 are 20 minutes apart."""
    sessions, _ = chat("29.3.2024, 01:50 - Erin: one", "29.3.2024, 03:10 - Shop: two", zone=JERUSALEM)
    assert [len(each) for each in sessions] == [2]


@pytest.mark.spec("U-9")
@for_each(
    ("dates", "months"),
    [
        (["03/04/24", "03/13/24"], [3, 3]),  # a 13th month there is not
        (["03/04/24", "13/04/24"], [4, 4]),
        (["03.04.24", "05.06.24"], [4, 6]),  # nobody writes the month first with dots
        (["05/05/24", "06/06/24"], [5, 6]),  # it makes no difference
    ],
)
def test_the_order_of_dates_is_found(chat, dates, months):
    senders = ["Erin", "Shop", "Erin"]
    sessions, bad = chat(*(f"{day}, 10:00 - {who}: hello" for day, who in zip(dates, senders, strict=False)))
    assert bad == []
    assert [datetime.fromisoformat(at).month for each in sessions for at, _, _ in each] == months


@pytest.mark.spec("U-9", "C-13")
def test_dates_that_may_be_read_in_two_ways_are_asked_about(chat):
    lines = ["03/04/24, 10:00 - Erin: one", "05/06/24, 10:00 - Shop: two"]
    with pytest.raises(InvalidInput, match="--dates day-first or month-first"):
        chat(*lines)

    sessions, _ = chat(*lines, order="month-first")
    assert sessions[0][0][0] == "2024-03-04T10:00:00+00:00"


@pytest.mark.spec("U-9", "C-13")
def test_bad_lines_are_named_and_the_others_read(chat):
    sessions, bad = chat(
        "13/02/2024, 10:00 - Erin: one",
        "31/02/2024, 10:00 - Erin: no such day",
        "13/02/2024, 25:00 - Erin: no such hour",
        "13/02/2024, 10:03 - Shop: two",
    )
    assert [text for _, _, text in sessions[0]] == ["one", "two"]
    assert [place.rpartition(":")[2] for place, _ in bad] == ["2", "3"]


@pytest.mark.spec("U-9", "C-13")
def test_who_is_who_is_asked_where_it_is_not_clear(chat):
    lines = ["13/02/2024, 10:00 - Erin: one", "13/02/2024, 10:01 - Shop: two"]
    with pytest.raises(InvalidInput, match=r"--bot which of 'Erin', 'Shop'"):
        chat(*lines, bot="Bot")
    with pytest.raises(InvalidInput, match=r"'Erin', 'Shop', 'Dan' write in this chat: a group's"):
        chat(*lines, "13/02/2024, 10:02 - Dan: three")
    with pytest.raises(UnreadableImport, match="no WhatsApp chat"):
        chat("hello", "there")


@pytest.mark.spec("U-9")
def test_names_are_compared_without_what_whatsapp_puts_around_them(chat):
    sessions, bad = chat(
        "[13/02/2024, 10:00:00] ~\u00a0Erin Levi: one",
        "[13/02/2024, 10:01:00] \u202a+972 50\u2011999\u20118888\u202c: two",
        bot="+972 50-999-8888",
    )
    assert bad == []
    assert [(role, text) for _, role, text in sessions[0]] == [("human", "one"), ("ai", "two")]


@pytest.mark.spec("U-9")
def test_a_longer_export_names_the_same_messages_and_sessions_as_the_one_before(tmp_path):
    lines = [
        "13/02/2024, 10:00 - Erin: ok",
        "13/02/2024, 10:00 - Erin: ok",
        "13/02/2024, 10:01 - Shop: yes",
        "14/02/2024, 10:00 - Erin: more",
        "14/02/2024, 10:01 - Shop: of it",
    ]

    def read(number):
        file = tmp_path / f"{number}.txt"
        file.write_text("\n".join(lines[:number]), encoding="utf-8")
        options = {"phone": ERIN, "silence": timedelta(minutes=30), "zone": ZoneInfo("UTC")}
        found = list(whatsapp.records(file, bot="Shop", **options))
        return [each.source_id for each in found], [message.id for each in found for message in each.messages]

    before, after = read(3), read(5)
    assert after[0][:1] == before[0]
    assert after[1][:3] == before[1]
    assert len(set(after[1])) == 5


@pytest.mark.spec("U-9")
def test_the_chat_is_found_in_the_archive(tmp_path):
    file = tmp_path / "WhatsApp Chat - Shop.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_chat.txt", "[13/02/2024, 10:00:00] Erin: שלום\r\n[13/02/2024, 10:01:00] Shop: hi\r\n")
        archive.writestr("00000001-PHOTO.jpg", b"\xff\xd8")
        archive.writestr("notes.txt", "a document that was sent")

    [session] = whatsapp.records(file, bot="Shop", phone=ERIN, silence=timedelta(minutes=30), zone=ZoneInfo("UTC"))

    assert [message.text for message in session.messages] == ["שלום", "hi"]
    assert session.client_name == "Erin"
    assert session.began_at == datetime(2024, 2, 13, 10, 0, tzinfo=UTC)
    assert session.ended_at == datetime(2024, 2, 13, 10, 1, tzinfo=UTC)


@pytest.mark.spec("U-9", "C-13")
def test_an_archive_without_one_chat_and_bytes_that_are_no_text_are_refused(tmp_path):
    options = {"bot": "Shop", "phone": ERIN, "silence": timedelta(minutes=30), "zone": ZoneInfo("UTC")}
    file = tmp_path / "a.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.jpg", b"")
    with pytest.raises(UnreadableImport, match=r"^\S+ holds 0 chats"):
        list(whatsapp.records(file, **options))

    broken = tmp_path / "a.txt"
    broken.write_bytes(bytes(range(256)) * 40)
    with pytest.raises(UnreadableImport, match="no WhatsApp chat"):
        list(whatsapp.records(broken, **options))


@pytest.mark.spec("U-9", "C-13")
@for_each("is_zip", [False, True])
def test_a_chat_that_becomes_too_large_is_refused_before_it_is_read(tmp_path, is_zip):
    text, chat = tmp_path / "WhatsApp Chat.txt", tmp_path / "chat.zip"
    with text.open("wb") as vast:
        vast.truncate(100_000_001)
    if is_zip:
        with zipfile.ZipFile(chat, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.write(text, text.name)
        assert chat.stat().st_size < 1_000_000
    with pytest.raises(
        UnreadableImport, match=r"^WhatsApp Chat\.txt would take [\d,]+ bytes: bring it in by parts of at most"
    ):
        list(whatsapp.records(chat if is_zip else text, bot="Shop", phone=ERIN, silence=None, zone=ZoneInfo("UTC")))
