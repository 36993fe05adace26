"""Past conversations on the person's page: listed by date, read as a chat, searched; nobody else's."""

import re

import pytest

from langmem_plugin.web.person import conversations
from tests.web.conftest import Visitor
from tests.web.sample_person import BEN, ERIN

GROUP = "972501234567-1@g.us"

pytestmark = pytest.mark.spec("U-10")


def say(memory, clock, *lines, who=ERIN):
    for number, text in enumerate(lines):
        memory.sessions.add_message(who, "assistant" if number % 2 else "user", text)
        clock.forward(minutes=1)
    memory.saver.end_session(memory.people.resolve(who))
    clock.forward(days=1)


def links(page):
    return re.findall(r'href="/me/(conversations/[^"#]+)', page)


def test_they_are_listed_the_last_first_and_read_as_a_chat(memory, erin, clock):
    assert "No chats yet" in erin.see("conversations")
    say(memory, clock, "Which dishwasher is quieter?", "The Bosch.", "<b>ok</b>")
    say(memory, clock, "Trains tomorrow?", "07:42")
    erin.enter()
    page = erin.see("conversations")
    assert page.index("Trains tomorrow?") < page.index("Which dishwasher")
    assert "3 messages" in page

    chat = erin.see(links(page)[1])
    assert chat.index("Which dishwasher") < chat.index("The Bosch.") < chat.index("&lt;b&gt;ok&lt;/b&gt;")
    assert chat.count('class="bubble mine"') == 2
    assert "1 March 2026" in chat
    assert "11:00" in chat  # in Israel


def test_tools_are_not_shown_and_a_picture_is_called_one(memory, erin, clock):
    memory.sessions.add_message(ERIN, "user", f"Look\n[image: image/png, 3216 bytes, langmem-media/{'0a' * 32}.png]")
    memory.sessions.add_message(ERIN, "tool", "internal result", tool_name="search")
    chat = erin.see(links(erin.see("conversations"))[0])
    assert "internal result" not in chat
    assert "langmem-media" not in chat
    assert "Picture" in chat


def test_a_search_leads_to_the_message(memory, erin, clock):
    say(memory, clock, "Which dishwasher is quieter?", "The Bosch.")
    memory.index_past_sessions()
    erin.enter()
    page = erin.see("conversations?q=dishwasher")
    found = re.search(r'href="/me/(conversations/[^"#]+)#([^"]+)"', page)
    assert f'id="{found[2]}"' in erin.see(found[1])
    assert erin.see(found[1]).count("bubble") == 2
    assert "Nothing like that was said" in erin.see("conversations?q=zebra")


def test_many_are_on_pages(memory, erin, clock):
    for number in range(21):
        say(memory, clock, f"Question {number}")
    erin.enter()
    assert len(links(erin.see("conversations"))) == 20
    assert len(links(erin.see("conversations?page=2"))) == 1


def test_a_long_chat_is_on_pages_and_a_search_opens_the_right_one(memory, erin, clock, monkeypatch):
    monkeypatch.setattr(conversations, "_OF_A_CHAT", 2)
    say(memory, clock, "One", "Two", "Three", "Four", "Which dishwasher?")
    memory.index_past_sessions()
    erin.enter()
    [chat] = links(erin.see("conversations"))
    assert [text in erin.see(chat) for text in ("One", "Two", "Three")] == [True, True, False]
    assert "Which dishwasher?" in erin.see(f"{chat}?page=99")
    found = re.search(r'href="/me/(conversations/[^"#]+)#([^"]+)"', erin.see("conversations?q=dishwasher"))
    assert f'id="{found[2]}"' in erin.see(found[1])


def test_another_persons_and_a_groups_are_not_there(memory, erin, clock):
    say(memory, clock, "Ben's secret", who=BEN)
    memory.sessions.add_message(GROUP, "user", "Of the group")
    memory.index_past_sessions()
    erin.enter()
    theirs = [each.session_id for each in (*memory.sessions.sessions(BEN), *memory.sessions.sessions(GROUP))]
    assert len(theirs) == 2
    for session_id in theirs:
        erin.see(f"conversations/{session_id}", status=404)
    assert "secret" not in erin.see("conversations")
    assert "Ben's" not in erin.see("conversations?q=secret")
    assert "secret" in Visitor(memory, BEN).see("conversations")
