"""Which spellings are of one name, and which are not: half of the pairs were unseen when the rules were written."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_plugin.memory.search.name_index import NameIndex, possible_names
from langmem_plugin.memory.search.name_matching import same_name, skeleton
from langmem_plugin.memory.search.wordings import by_aliases, by_sound, with_full_names

PAIRS = [line.split("\t") for line in (Path(__file__).parent / "names/pairs.tsv").read_text("utf-8").splitlines()]
_EITHER_READING = ("אורי", "Ori")  # is spelled so, as Uri is


def pairs(wanted):
    return [(one.casefold(), other.casefold()) for _, is_one, one, other in PAIRS if is_one == wanted]


@pytest.mark.spec("M-7")
def test_spellings_of_one_name_match():
    assert len(pairs("yes")) >= 40
    assert [each for each in pairs("yes") if not same_name(*each)] == []


@pytest.mark.spec("M-7")
def test_names_of_two_people_do_not():
    assert len(pairs("no")) >= 60
    wrong = [each for each in pairs("no") if same_name(*each)]
    assert wrong == [(_EITHER_READING[0], _EITHER_READING[1].casefold())]


@pytest.mark.spec("M-7")
@pytest.mark.parametrize(("one", "other"), pairs("yes"))
def test_what_matches_is_looked_for_under_one_key_from_either_side(one, other):
    assert skeleton(one) == skeleton(other)
    assert same_name(other, one)
    names = NameIndex()
    names.add(0, other.title())
    assert names.alike(one) == [other]
    names.remove(0)
    assert names.alike(one) == []


@pytest.mark.spec("M-7")
def test_a_hebrew_name_is_known_behind_its_prefix():
    names = NameIndex()
    names.add(0, "המתנה לדנה אצל לוי")
    assert names.alike("dana") == ["לדנה"]
    assert same_name("וללוי", "levi")


@pytest.mark.spec("M-7")
def test_names_are_told_by_their_capitals_where_a_text_has_some():
    assert possible_names("My sister Dana lives near The Hague") == ["dana", "hague"]
    assert possible_names("my sister dana lives in haifa") == ["sister", "dana", "lives", "haifa"]
    assert possible_names("") == []


@pytest.mark.spec("M-7")
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_words_can_be_compared_and_each_is_its_own_name(one, other):
    for word in possible_names(one):
        assert same_name(word, word)
        for another in possible_names(other):
            assert same_name(word, another) is same_name(another, word)
            if same_name(word, another) and word != another:
                assert {skeleton(form) for form in (word, another)}


@pytest.mark.spec("M-7")
def test_a_question_is_worded_with_the_other_names_as_whole_words():
    groups = (("Kubernetes", "k8s", "kube"), ("Dr. Levi", "Dr. L"), ("דניאל", "דני"))
    asked = by_aliases("when does Dr. L look at k8s?", groups)
    assert asked[0].text == "when does Dr. Levi look at Kubernetes"
    assert asked[0].aliases == ("Dr. L = Dr. Levi", "k8s = Kubernetes")
    assert len(asked) <= 6
    assert by_aliases("the k8sx cluster of Dr. Lopez", groups) == []
    assert by_aliases("מה לקנות לדני?", groups)[0].text == "מה לקנות דניאל"
    assert by_aliases("", groups) == by_aliases("hello", ()) == []
    meant = with_full_names("where is k8s?", by_aliases("where is k8s?", groups), groups)
    assert meant == "where is k8s? (Kubernetes)"
    said_in_full = by_aliases("where is Kubernetes?", groups)
    assert with_full_names("where is Kubernetes?", said_in_full, groups) == "where is Kubernetes?"


@pytest.mark.spec("M-7")
def test_however_many_names_a_question_has_it_is_worded_a_few_times():
    groups = tuple((f"Name{number}", *(f"n{number}x{other}" for other in range(20))) for number in range(50))
    asked = " ".join(group[1] for group in groups)
    assert 0 < len(by_aliases(asked, groups)) <= 6
    many = " ".join(f"Name{chr(97 + number % 26)}" for number in range(50))
    assert 0 < len(by_sound(many, lambda name: [f"{name}a", f"{name}e", f"{name}i", f"{name}o"])) <= 6


@pytest.mark.spec("M-7")
def test_a_longer_name_counts_before_one_within_it():
    groups = (("Ruth Levi", "Levi"), ("Dr. Adam Levi", "Dr. Levi"))
    assert [each.text for each in by_aliases("call Dr. Levi", groups)] == ["call Dr. Adam Levi"]
