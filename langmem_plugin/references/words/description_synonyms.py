"""English words for one another, by which an indirect description ("the one with the detective") finds an item."""

_ALIKE = (
    "he him his man male boy guy husband father actor king son brother",
    "she her woman female girl lady wife mother actress queen daughter sister",
    "singer sing sung vocal vocalist artist",
    "author writer written write wrote novelist",
    "movie film cinema",
    "sweet sugar dessert candy cake honey syrup",
    "band group duo trio",
    "fry fried deep-fried",
    "child children kid young",
    "war military army soldier battle",
    "sad ballad melancholy",
    "dance disco electronic club house edm",
    "spicy chili pepper hot",
    "bread dough flour bun",
    "soup broth stew",
    "drink beverage juice",
    "meat beef pork lamb chicken",
    "sea ocean fish seafood",
    "murder kill crime detective mystery",
    "love romance romantic",
    "funny comedy humor",
    "scary horror ghost",
    "magic fantasy wizard dragon",
    "space alien science-fiction sci-fi",
    "rap hip-hop hip hop rapper",
    "rock guitar metal",
    "religious church god christian",
    "wedding marry married marriage bride",
    "school college university student",
    "british english england uk britain",
    "american america us usa",
    "live concert performance",
    "duet featuring collaboration feature two",
    "morning breakfast",
    "rhyme poem poetry verse",
)
SYNONYMS: dict[str, frozenset[str]] = {}
for _line in _ALIKE:
    _group = frozenset(_line.split())
    for _word in _group:
        SYNONYMS[_word] = SYNONYMS.get(_word, frozenset()) | _group
