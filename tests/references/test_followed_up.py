"""What people text after a tool's list, in three languages: it is understood for sure or not at all."""

import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langmem_plugin.references import resolve
from tests.cases import for_each

BOOKS = [
    {"book_id": f"b{place}", "title": title}
    for place, title in enumerate(("Salt Rivers", "The Tin Lighthouse", "Paper Moths"), 1)
]
FINES = [{"reason": "Late", "amount": 4}, {"reason": "Lost", "amount": 30}, {"reason": "Torn", "amount": 9}]
BASKET = [{"entry": "stamps"}, {"entry": "ink"}]
ROTA = [{"day": "Monday", "who": "Ana"}, {"day": "Wednesday", "who": "Ben"}]


def told(tool, items, key, **arguments):
    reply = "\n".join(f"{place}. {item[key]}" for place, item in enumerate(items, 1))
    return [
        HumanMessage("show me"),
        AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": tool}]),
        ToolMessage(json.dumps(items), tool_call_id=tool, name=tool),
        AIMessage(reply),
    ]


BOOKS_SHOWN = told("search_books", BOOKS, "title", query="sea")
FINES_LAST = [*BOOKS_SHOWN, *told("list_fines", FINES, "reason")]
ABOUT_ONE = [
    *BOOKS_SHOWN,
    HumanMessage("tell me more about number 2"),
    *told("get_book", [BOOKS[1] | {"chapters": ["Fog", "Oil"]}], "title", book_id="b2")[1:],
]


@pytest.mark.spec("R-8")
@for_each(
    "text",
    [
        "reserve book number 3",
        "reserve the third book",
        "open book 3",
        "reserva el libro número 3",
        "שמור את book מספר 3",
    ],
)
def test_the_noun_beside_a_number_chooses_the_list(text):
    assert resolve(text, FINES_LAST).items == [BOOKS[2]]
    assert resolve("reserve number 3", FINES_LAST).items == [FINES[2]]


@pytest.mark.spec("R-8")
@for_each("text", ["reserva el hotel número 3", "book hotel number 3", "תזמין hotel מספר 3"])
def test_the_noun_beside_a_number_is_no_name(text):
    hotels = [{"hotel_id": f"h{at}", "title": title} for at, title in enumerate(("Hotel Sol", "Casa Luna", "Gran Mar"))]

    assert resolve(text, [*told("search_hotels", hotels, "title"), *FINES_LAST[4:]]).items == [hotels[2]]


@pytest.mark.spec("R-8")
@for_each("text", ["number 4", "the fourth one", "book 4", "la cuarta", "el número 4", "מספר 4", "את הרביעי"])
def test_a_place_that_no_list_has_is_nothing(text):
    assert not resolve(text, BOOKS_SHOWN).items


@pytest.mark.spec("R-8")
@for_each("text", ["number 2", "save the second one", "guarda el 2", "la segunda", "את השני", "מספר 2"])
def test_places_are_of_the_quoted_message(text):
    found = resolve(text, FINES_LAST, quoted=BOOKS_SHOWN[-1].text)

    assert found.items == [BOOKS[1]]
    assert list(resolve("save this one", FINES_LAST, quoted=BOOKS_SHOWN[-1].text).candidates) == BOOKS


@pytest.mark.spec("R-1")
@for_each("text", ["save that one", "order it", "guárdala", "guarda esa", "תשמור את זה"])
def test_what_a_tool_told_more_of_is_meant_with_all_that_it_told(text):
    assert resolve(text, ABOUT_ONE).items == [BOOKS[1] | {"chapters": ["Fog", "Oil"]}]
    assert resolve("add those chapters", ABOUT_ONE).references[0].part == "chapters"


@pytest.mark.spec("R-1")
@for_each(
    "text",
    [
        "add the ingredients to the grocery list",
        "añade los ingredientes a la lista de la compra",
        "תוסיף את המצרכים לרשימת הקניות",
    ],
)
def test_a_part_of_the_one_in_focus_is_added_to_a_list_and_the_list_itself_is_nothing_shown(text):
    soup = {"recipe_id": "r1", "title": "Soup", "ingredients": ["leek", "salt"]}
    shown = told("get_recipe", [soup], "title")
    found = resolve(text, shown)

    assert [(each.part, each.items) for each in found.references] == [("ingredients", (soup,))]
    for alone in ("show my shopping list", "muestra mi lista de la compra", "תראה לי את רשימת הקניות"):
        assert not resolve(alone, shown)


@pytest.mark.spec("R-1")
@for_each("text", ["buy it all", "order all of it", "compra todo", "תזמין הכל"])
def test_all_that_stands_in_a_basket_is_meant_and_the_basket_is_no_question(text):
    shown = [*BOOKS_SHOWN, *told("show_basket", BASKET, "entry")]

    assert resolve(text, shown).items == BASKET
    assert not resolve("order it", shown)
    assert not resolve("push it to the shop", shown)


@pytest.mark.spec("R-1")
@for_each("text", ["return it", "can you renew that", "please shelve it"])
def test_a_word_in_no_table_before_it_is_what_to_do_with_the_one_in_focus(text):
    assert resolve(text, ABOUT_ONE).items == [BOOKS[1] | {"chapters": ["Fog", "Oil"]}]
    assert not resolve(text, BOOKS_SHOWN).items
    assert not resolve("shelved it", ABOUT_ONE).items


@pytest.mark.spec("R-1")
@for_each("text", ["the other two", "the others can wait", "reserve the other ones", "los otros dos"])
def test_the_others_are_those_that_nobody_picked(text):
    picked = [*BOOKS_SHOWN, HumanMessage("reserve number 2"), AIMessage("Reserved.")]

    assert resolve(text, picked).items == [BOOKS[0], BOOKS[2]]
    assert not resolve(text, BOOKS_SHOWN).items
    assert not resolve("the other one", picked).items
    assert not resolve("the other books that I have", picked).items


@pytest.mark.spec("R-1", "R-8")
@for_each("text", ["shelf 9", "look at shelf 9 please"])
def test_a_number_with_its_noun_is_of_the_item_whose_field_says_so(text):
    shelves = [
        {"id": f"s{shelf}", "title": f"Books of {name}", "shelf": shelf} for name, shelf in (("Ana", 9), ("Ben", 1))
    ]

    assert resolve(text, told("list_shelves", shelves, "title")).items == [shelves[0]]
    assert resolve("number 1", told("list_shelves", shelves, "title")).items == [shelves[0]]
    assert resolve("shelf 1", told("list_shelves", shelves, "title")).items == [shelves[1]]


@pytest.mark.spec("R-1")
@for_each("text", ["the one at 9:10 with my aunt", "is the one at 9:10 a slow one?"])
def test_a_value_is_said_before_other_words(text):
    trains = [{"train": "a", "leaves": "07:25"}, {"train": "b", "leaves": "09:10"}]
    assert resolve(text, told("trains", trains, "leaves")).items == [trains[1]]


@pytest.mark.spec("R-4")
@for_each("text", ["second point: i need all of it", "Step 2: what do i do there?", "second: take a breath"])
def test_what_a_person_heads_themselves_is_no_place_in_a_reply(text):
    said = [HumanMessage("help"), AIMessage("1. Take a breath\n2. Read all of it\n3. Ask")]
    assert not resolve(text, said).items
    assert resolve("the second point", said).items[0]["number"] == 2


@pytest.mark.spec("R-2")
@for_each(
    "text",
    [
        "what about next week?",
        "and next week?",
        "¿y la semana que viene?",
        "ומה עם שבוע הבא?",
        "and tomorrow?",
        "y mañana?",
        "ומחר?",
        "swap Wednesday for Cleo",
        "no, make it Friday",
        "tomorrow instead",
        "מחר במקום",
        "actually Friday",
        "mejor dicho, el viernes",
        "בעצם יום שישי",
    ],
)
def test_a_call_that_is_changed_comes_with_its_arguments(text):
    call = resolve(text, told("get_rota", ROTA, "day", week="this week")).previous_call

    assert call is not None
    assert (call.tool, dict(call.arguments)) == ("get_rota", {"week": "this week"})


@pytest.mark.spec("R-8")
@for_each("text", ["moth books", "find lighthouse stories", "show me river stories", "libros de polillas", "ספרי מסע"])
def test_a_new_search_is_no_pick(text):
    assert not resolve(text, BOOKS_SHOWN).items


@pytest.mark.spec("R-4")
@for_each(
    ("text", "reply"),
    [
        ("let's do step 1: the database", "Done:\n- **Step 1: Write the schema**\n- **Step 2: Test it**\n\nNow more."),
        ("the config part looks good", "```\n# config\nx = 1\n# main\ny = 2\n```\nRun it."),
        ("flat 2 of 1-2-3 Honcho street", "1. When do you come?\n2. Who comes?\n3. Why?"),
        ("2 on the first walk and 3 on the second one", "1. **Bark** – wait\n2. **Feed** – chicken\n3. **Turn**"),
        ("The Feed idea... hold off on that", "1. **Bark** – wait\n2. **Feed** – chicken\n3. **Turn**"),
    ],
)
def test_what_is_printed_elsewhere_counts_or_is_turned_down_is_not_claimed(text, reply):
    assert not resolve(text, [HumanMessage("help"), AIMessage(reply)]).items


FILMS = [{"film_id": f"f{at}", "title": title} for at, title in enumerate(("Low Tide", "Red Barn"), 1)]
PLAYS = [{"play_id": f"p{at}", "title": title} for at, title in enumerate(("Medea", "Yerma", "The Gulls"), 1)]
TWO_LISTS = [
    HumanMessage("what is on tonight?"),
    AIMessage("", tool_calls=[{"name": f"list_{kind}", "args": {}, "id": kind} for kind in ("films", "plays")]),
    ToolMessage(json.dumps(FILMS), tool_call_id="films", name="list_films"),
    ToolMessage(json.dumps(PLAYS), tool_call_id="plays", name="list_plays"),
    AIMessage("**Cinema**\n1. Low Tide\n2. Red Barn\n\n**Theatre**\n1. Medea\n2. Yerma\n3. The Gulls"),
]


@pytest.mark.spec("R-1", "R-8")
@for_each(
    ("text", "meant"),
    [
        ("the second film", FILMS[1]),
        ("film number 2", FILMS[1]),
        ("the second in the cinema", FILMS[1]),
        ("la segunda de theatre", PLAYS[1]),
        ("number 3", PLAYS[2]),
        ("number 2", None),
        ("the second one", None),
        ("2", None),
    ],
)
def test_of_two_lists_in_one_reply_a_place_is_of_the_one_that_is_said_or_alone_has_it(text, meant):
    assert resolve(text, TWO_LISTS).items == ([meant] if meant else [])


@pytest.mark.spec("R-4")
@for_each("text", ["cancel the bloom & fig one", "cancel the bloom & fig invoice", "bloom & fig"])
def test_of_two_items_of_one_name_neither_is_meant_for_sure(text):
    bills = [
        {"number": f"2026-01{at}", "client": name}
        for at, name in ((18, "Bloom & Fig"), (21, "Nove"), (31, "Bloom & Fig"))
    ]
    shown = told("bills", bills, "client")

    assert not resolve(text, shown).items
    assert not resolve(text, [*shown, HumanMessage("remind them"), AIMessage("Sent to Nove and Bloom & Fig.")]).items
    assert resolve("cancel the nove one", shown).items == [bills[1]]


@pytest.mark.spec("R-4")
@for_each("text", ["they always pay late", "that is cheap, they say", "יקר לי בטירוף", "es caro para mi"])
def test_a_word_of_a_scale_that_compares_nothing_points_at_nothing(text):
    trains = [{"train": f"t{at}", "price": price, "leaves": f"{at + 7}:10"} for at, price in enumerate((9, 40, 22))]

    assert not resolve(text, told("trains", trains, "train")).items
    assert resolve("the late one", told("trains", trains, "train")).items == [trains[2]]
    assert resolve("היקר", told("trains", trains, "train")).items == [trains[1]]


@pytest.mark.spec("R-1", "R-4")
@for_each(
    ("text", "number"),
    [
        ("what is tin lighthouse about", 2),
        ("read paper moths already", 3),
        ("I told my sister in the car yesterday evening how paper moths had taken me weeks and weeks", None),
        ("the last one in a list", None),
        ("mine: paper moths", None),
    ],
)
def test_a_line_of_a_reply_is_meant_by_its_whole_name_in_a_few_words(text, number):
    reply = AIMessage("1. **Salt Rivers** - a journey\n2. **Tin Lighthouse** - a storm\n3. **Paper Moths** - a summer")

    assert [each["number"] for each in resolve(text, [HumanMessage("a book?"), reply]).items] == [number] * bool(number)


@pytest.mark.spec("R-2", "R-4")
@for_each("text", ["2", "next month", "3 tickets for Rosa", "no llegamos, salgo a las 8", "yes, at 8"])
def test_what_answers_a_question_or_tells_of_oneself_changes_no_call(text):
    rota = told("get_rota", ROTA, "day", week="this week")

    assert resolve(text, [*rota[:-1], AIMessage("Two days. How many people?")]).previous_call is None
    assert resolve("no, next month", rota).previous_call is not None


@pytest.mark.spec("R-2", "R-4")
@for_each("text", ["friday", "with Ana", "not monday", "neither 1 nor 2", "ni la 1 ni la 2", "לא 1 ולא 2", "יום שני"])
def test_what_picks_from_a_list_just_shown_or_turns_it_down_changes_no_call(text):
    rota = told("get_rota", ROTA, "day", week="this week")

    assert resolve(text, rota).previous_call is None


@pytest.mark.spec("R-2", "R-4")
@for_each("text", ["make it 90 minutes", "can you move it? push it to 5", "cámbialo a las 5", "תזיז לשעה 5"])
def test_a_change_is_of_the_last_call_as_long_as_the_reply_asks_about_it(text):
    rota = told("get_rota", ROTA, "day", week="this week")

    assert resolve(text, [*rota[:-1], AIMessage("Ana, 16:00 to 17:00. Is this good?")]).previous_call is not None
    assert resolve(text, rota).previous_call is None


@pytest.mark.spec("R-1")
@for_each(
    ("reply", "picks", "points"),
    [
        ("1. Paella\n2. Gazpacho\n3. Tortilla", "i want the second one", ("save that one", "order it", "book that")),
        ("1. Paella\n2. Gazpacho\n3. Tortilla", "quiero la segunda", ("guarda esa", "guárdala", "pide eso")),
        ("1. פאייה\n2. גספצ'ו\n3. טורטייה", "אני רוצה את השנייה", ("שמור את זה", "תזמין אותה")),
    ],
)
def test_a_line_of_a_reply_that_was_picked_is_pointed_at_until_something_newer_is_shown(reply, picks, points):
    picked = [HumanMessage("hola"), AIMessage(reply), HumanMessage(picks), AIMessage("Ok.")]
    newer = [*picked, HumanMessage("?"), AIMessage("1. Pan\n2. Sopa")]

    for text in points:
        assert [each.numbers for each in resolve(text, picked).references] == [(2,)]
        assert not resolve(text, newer).items
        assert not resolve(text, picked[:2]).items
    assert not resolve(f"{points[-1]}, {'un poco más ' * 6}", picked).items


@pytest.mark.spec("R-1")
@for_each("text", ["the cheaper one - save that one", "the cheaper one – save it", "la más barata - guárdala"])
def test_a_dash_between_spaces_parts_clauses(text):
    offers = [{"id": "a", "name": "Alpha", "price": 10}, {"id": "b", "name": "Beta", "price": 20}]

    assert resolve(text, told("offers", offers, "name")).items == [offers[0]]
    assert resolve("1 - 2", told("offers", offers, "name")).items == offers


@pytest.mark.spec("R-1")
@for_each("text", ["no, the other one", "actually no, the other one", "no, la otra", "לא, את האחרת", "בעצם לא, השנייה"])
def test_of_two_the_other_one_is_meant_when_the_one_picked_is_taken_back(text):
    offers = [{"id": "a", "name": "Alpha"}, {"id": "b", "name": "Beta"}]
    for picks, other in (("the second", 0), ("the first", 1)):
        picked = [*told("offers", offers, "name"), HumanMessage(picks), AIMessage("Done.")]
        assert resolve(text, picked).items == [offers[other]]
        assert resolve("no, the second", picked).items == resolve("השנייה", picked).items == [offers[1]]


@pytest.mark.spec("R-1")
def test_a_reply_orders_things_by_its_words_with_letters_written_onto_them():
    movers = [{"ref": "H2", "mover": "גלגלים", "price": 750}, {"ref": "H1", "mover": "עדינים", "price": 900}]
    shown = [*told("movers", movers, "mover")[:-1], AIMessage("עדינים ב-900 וגלגלים ב-750.")]

    assert resolve("הראשון", shown).items == [movers[1]]
    assert resolve("השני", shown).items == [movers[0]]
