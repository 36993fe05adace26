"""How often lines are understood, by language: the share of claims that are right, of picks that are understood, and of
lines that mean nothing in which something is claimed. `python -m benchmarks.references` prints the figures of every kind.

No rule was made from the texted lines. The lines of talk were written before any rule, and their errors were read while
rules were made: their floors keep what holds, and say nothing of unseen talk.
"""

import json
from collections import Counter
from functools import cache

import pytest

from benchmarks.reference_lines import UNSEEN, ids, read_lines
from benchmarks.references import PLACES, TALK, as_message, holds
from langmem_plugin.references import resolve


@cache
def texted(lang: str) -> Counter[str]:
    """Short lines about what tools gave, in domains unlike any example."""
    found: Counter[str] = Counter()
    for line in read_lines(UNSEEN):
        if line.lang != lang:
            continue
        meant = resolve(line.utterance, line.messages)
        good = ids(meant) == line.meant
        found += Counter(lines=1, claims=bool(meant.references), right_claims=good and bool(meant.references))
        if not line.meant:
            found += Counter(none=1, claimed_of_none=bool(meant.references))
        if line.kind in PLACES:
            found += Counter(places=1, right_places=good)
    return found


@cache
def talked(lang: str) -> Counter[str]:
    """Ordinary talk with an assistant whose answers are long and full of lists."""
    found: Counter[str] = Counter()
    for row in map(json.loads, TALK.read_text("utf-8").splitlines()):
        if row["lang"] != lang:
            continue
        messages = [as_message(turn) for turn in row["dialogue"]]
        for line in row["lines"]:
            meant = resolve(line["utterance"], messages)
            wanted = [] if line["target"] == "none" else line["target"]
            told = [str(item.get("text") or item) for item in meant.items]
            good = len(told) == len(wanted) and all(any(holds(text, each) for text in told) for each in wanted)
            found += Counter(claims=bool(meant.references), right_claims=good and bool(meant.references))
            if wanted:
                found += Counter(picks=1, right_picks=good)
            else:
                found += Counter(none=1, claimed_of_none=bool(meant.references))
    return found


@pytest.mark.spec("R-1", "R-4")
@pytest.mark.parametrize(("lang", "right"), [("en", 0.75), ("he", 0.75), ("es", 0.75)])
def test_what_is_claimed_of_a_texted_line_is_mostly_right_and_of_one_that_means_nothing_hardly_anything(lang, right):
    found = texted(lang)

    assert found["right_claims"] >= right * found["claims"] > 0
    assert found["claimed_of_none"] <= 0.03 * found["none"]


@pytest.mark.spec("R-1", "R-4")
@pytest.mark.parametrize(("lang", "picks"), [("en", 0.75), ("he", 0.5), ("es", 0.5)])
def test_in_ordinary_talk_what_is_picked_is_understood_and_all_else_is_silence(lang, picks):
    found = talked(lang)

    assert found["right_claims"] >= 0.95 * found["claims"] > 0
    assert found["right_picks"] >= picks * found["picks"]
    assert found["claimed_of_none"] <= 0.02 * found["none"]
