"""Words that say how a text stands to what was said before, whatever both are about."""

from collections import defaultdict
from typing import Final

from langmem_plugin.languages.language import LANGUAGES, phrases, words

CUES: Final[defaultdict[str, list[tuple[str, ...]]]] = defaultdict(list)
"""The phrases of each cue, in plain form."""
for _language in LANGUAGES:
    for _name, _cell in _language.pairs["cues"].items():
        CUES[_name] += phrases(_cell)


def _of_all(kind: str) -> frozenset[str]:
    return frozenset(word for language in LANGUAGES for word in words(language.pairs[kind]))


SELVES: Final = _of_all("speaker").union(*(each.selves | each.possessives for each in LANGUAGES))
"""Words by which the speaker, or a note about them, names them."""
HAPPENED: Final = _of_all("happened")
"""Words that tell of something done and do not end as such words do."""
LIGHT: Final = _of_all("light")
"""Words that tell little of what a text is about."""
