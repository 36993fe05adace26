"""The WordPiece tokenizer of BERT's uncased English models, over the vocabulary that lies beside this file.

The vocabulary is one token a line, its line its number; where it is from: NOTICE. Its ids are those of the model's own
tokenizer.json.
"""

import lzma
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_VOCABULARY = Path(__file__).with_name("wordpiece_vocabulary.txt.xz")
_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_LONGEST_WORD = 100  # letters; one that is longer is unknown


def wordpiece_tokenizer(longest: int) -> "Tokenizer":
    """Cuts a text after `longest` tokens, [CLS] and [SEP] around it included. About 50 ms."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors  # noqa: PLC0415 - heavy

    tokens = lzma.decompress(_VOCABULARY.read_bytes()).decode().split("\n")
    vocabulary = {token: number for number, token in enumerate(tokens)}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token=_SPECIAL[1], max_input_chars_per_word=_LONGEST_WORD))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    made.add_special_tokens(_SPECIAL)
    made.enable_truncation(max_length=longest)
    return made
