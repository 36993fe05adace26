"""A question is worded with the names that mean the same: as whole words, a few times, the longest name first."""

import pytest

from langmem_plugin.memory.find.question import by_aliases, with_full_names


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


@pytest.mark.spec("M-7")
def test_a_longer_name_counts_before_one_within_it():
    groups = (("Ruth Levi", "Levi"), ("Dr. Adam Levi", "Dr. Levi"))
    assert [each.text for each in by_aliases("call Dr. Levi", groups)] == ["call Dr. Adam Levi"]
