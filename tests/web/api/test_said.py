"""A question for two things is answered over HTTP with both."""

import pytest


@pytest.mark.spec("U-3", "M-7")
def test_a_question_for_two_things_finds_both(anna):
    anna.remember("Leo is allergic to peanuts")
    anna.remember("Dana's birthday is on 3 May")
    question = "what is Leo allergic to and when is Dana's birthday?"
    both = anna("GET", "memory/search", params={"query": question})["results"]
    assert {each["memory"]["fact"] for each in both} == {"Leo is allergic to peanuts", "Dana's birthday is on 3 May"}
