"""The tokenizer cuts texts as the model's own does."""

import pytest

from langmem_plugin.memory.embedding.offline_embeddings import wordpiece_tokenizer
from tests.cases import for_each


@pytest.fixture(scope="module")
def tokenizer():
    return wordpiece_tokenizer(16)


@pytest.mark.spec("M-4")
@for_each(
    ("text", "ids"),
    [
        ("hello world", [101, 7592, 2088, 102]),
        ("", [101, 102]),
        ("Café unaffable", [101, 7668, 14477, 20961, 3468, 102]),
        ("₪5000", [101, 100, 102]),
        ("日本", [101, 1864, 1876, 102]),
        ("[MASK] [SEP]", [101, 103, 102, 102]),
        ("x" * 101, [101, 100, 102]),
        ("a " * 40, [101, *[1037] * 14, 102]),
    ],
)
def test_ids_are_those_of_the_models_own_tokenizer(tokenizer, text, ids):
    assert tokenizer.encode(text).ids == ids
