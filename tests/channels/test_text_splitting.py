"""Laws of a long text that is cut into parts."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from langmem_plugin.channels import telegram, twilio, whatsapp
from langmem_plugin.channels.payloads import Incoming
from langmem_plugin.channels.text_splitting import split


@pytest.mark.spec("U-1")
@given(st.text(alphabet=st.sampled_from("ab. !?\n-1`*👍🏽é\u0301"), max_size=400), st.integers(12, 80))
@example(" 111111111111111", 15)
def test_parts_are_never_too_long_or_empty_and_lose_no_word(text, longest):
    found = split(text, longest)

    assert all(part.strip() and len(part) <= longest for part in found)
    assert re.sub(r"[`\s]", "", "".join(found)) == re.sub(r"[`\s]", "", text)


@pytest.mark.spec("U-1")
@given(st.text(alphabet=st.sampled_from("ab. !?\n-1`*👍🏽é\u0301"), max_size=400), st.integers(12, 80))
@example("one two three four five\nsix", 12)
@example(f"{'x' * 20}\n- milk\n- tea", 12)
def test_what_stood_apart_is_not_put_together(text, longest):
    words = " ".join(text.replace("`", "").split())
    for part in split(text.replace("`", ""), longest):
        assert " ".join(part.split()) in words


@pytest.mark.spec("U-1")
def test_a_block_of_blank_lines_is_cut_as_any_other():
    assert split("```\n" + "\n" * 200 + "```\nThat is all.", 100)[-1].endswith("That is all.")


@pytest.mark.spec("U-1")
def test_lines_of_a_list_and_blocks_of_code_stay_whole():
    code = "```python\n" + "x = 1\n" * 5 + "```\n"
    lines = "".join(f"- item {n}. It is good. Really.\n" for n in range(12))
    text = f"Here they are. All of them.\n{lines}{code}That was all. Bye."

    for longest in range(60, 300, 7):
        found = split(text, longest)
        assert all(part.count("```") % 2 == 0 for part in found)
        assert {line for part in found for line in part.splitlines() if line.startswith("-")} == set(lines.splitlines())


@pytest.mark.spec("U-1")
def test_code_longer_than_a_part_is_several_blocks():
    found = split("```\n" + "line of code\n" * 40 + "```", 100)

    assert all(part.startswith("```\n") and part.endswith("\n```") and len(part) <= 100 for part in found)


@pytest.mark.spec("U-1")
def test_each_channel_counts_in_its_own_way():
    text = "😀" * 9_000
    sms = Incoming(who="+1", to={"To": "+14158670001"})

    assert all(len(part) <= 4096 for part in whatsapp.parts(text))
    assert all(len(part.encode("utf-16-le")) <= 2 * 4096 for part in telegram.parts(text))
    assert all(len(part.encode("utf-16-le")) <= 2 * 670 for part in twilio.parts(sms, text))
    assert [len(part) for part in twilio.parts(sms, "a" * 3_000)] == [1530, 1470]
    assert [len(part) for part in twilio.parts(sms, "€" * 1_000)] == [765, 235]
