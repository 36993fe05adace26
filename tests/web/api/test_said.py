"""What was said is searched over HTTP, and what was found in a memory is marked."""

import pytest


def talk(memory, who, *texts):
    for number, text in enumerate(texts):
        memory.sessions.add_message(who, ("user", "assistant")[number % 2], text)
    memory.sessions.clear_session(who)
    memory.index_past_sessions()


@pytest.mark.spec("U-3", "M-7")
def test_what_a_query_found_is_marked_in_the_text_and_a_question_for_two_things_finds_both(anna):
    anna.remember("Leo is allergic to peanuts")
    anna.remember("Dana's birthday is on 3 May")
    [found] = anna("GET", "memory/search", params={"query": "peanut*", "search_type": "text"})["results"]
    assert [found["memory"]["fact"][start:end] for start, end in found["matches"]] == ["peanuts"]
    question = "what is Leo allergic to and when is Dana's birthday?"
    both = anna("GET", "memory/search", params={"query": question})["results"]
    assert {each["memory"]["fact"] for each in both} == {"Leo is allergic to peanuts", "Dana's birthday is on 3 May"}
