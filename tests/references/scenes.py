"""Conversations of our own writing that the utterances of the tables are said in."""

import json

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage


def used(tool: str, result: object, call: str = "call-1", **arguments: object) -> list[BaseMessage]:
    """A tool call and its result, as JSON unless it is text already."""
    content = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return [
        AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": call}]),
        ToolMessage(content, tool_call_id=call, name=tool),
    ]


RECIPES = [
    {
        "id": "r1",
        "title": "Lemon Garlic Chicken",
        "minutes": 35,
        "calories": 420,
        "rating": 4.6,
        "cost": "$14",
        "tags": ["chicken", "oven"],
    },
    {
        "id": "r2",
        "title": "Beef and Barley Stew",
        "minutes": 95,
        "calories": 510,
        "rating": 4.8,
        "cost": "$18",
        "tags": ["beef", "slow"],
    },
    {
        "id": "r3",
        "title": "Coconut Tofu Curry",
        "minutes": 25,
        "calories": 390,
        "rating": 4.1,
        "cost": "$9",
        "tags": ["vegan", "quick"],
    },
    {
        "id": "r4",
        "title": "Mushroom Risotto",
        "minutes": 45,
        "calories": 470,
        "rating": 4.3,
        "cost": "$11",
        "tags": ["vegetarian"],
    },
    {
        "id": "r5",
        "title": "Shrimp Tacos",
        "minutes": 20,
        "calories": 450,
        "rating": 4.5,
        "cost": "$16",
        "tags": ["seafood", "quick"],
    },
]
DETAIL = {
    "id": "r2",
    "title": "Beef and Barley Stew",
    "servings": 6,
    "ingredients": [
        {"name": "beef chuck", "amount": "1 kg"},
        {"name": "barley", "amount": "200 g"},
        {"name": "carrots", "amount": "4"},
    ],
    "steps": ["Brown the beef.", "Add barley and carrots.", "Simmer 80 minutes."],
}

SCENES: dict[str, list[BaseMessage]] = {"empty": []}

SCENES["recipes"] = [
    HumanMessage("find me something for dinner"),
    *used("search_recipes", {"results": RECIPES, "total": 5}, query="dinner"),
    AIMessage(
        "Here are some ideas:\n\n1. **Coconut Tofu Curry** (25 min)\n2. **Beef and Barley Stew** (95 min)\n"
        "3. **Lemon Garlic Chicken** (35 min)\n4. **Shrimp Tacos** (20 min)\n\nWant details on any of them?"
    ),
]
SCENES["detail"] = [
    *SCENES["recipes"],
    HumanMessage("number 2 looks good, tell me more"),
    *used("get_recipe", {"recipe": DETAIL}, "call-2", recipe_id="r2"),
    AIMessage(
        "**Beef and Barley Stew** serves 6.\n\nIngredients:\n- 1 kg beef chuck\n- 200 g barley\n- 4 carrots\n\nIt simmers for 80 minutes."
    ),
]
FLIGHTS = [
    {
        "flight": "LX 254",
        "airline": "Swiss",
        "departs": "2026-06-02T06:15",
        "price": {"amount": 240, "currency": "USD"},
        "stops": 1,
        "duration": "5h 40m",
    },
    {
        "flight": "LY 347",
        "airline": "El Al",
        "departs": "2026-06-02T09:50",
        "price": {"amount": 310, "currency": "USD"},
        "stops": 0,
        "duration": "4h 10m",
    },
    {
        "flight": "FR 8811",
        "airline": "Ryanair",
        "departs": "2026-06-03T21:30",
        "price": {"amount": 95, "currency": "USD"},
        "stops": 1,
        "duration": "7h 5m",
    },
]
SCENES["flights"] = [
    HumanMessage("flights to zurich early june?"),
    *used("find_flights", FLIGHTS, to="ZRH"),
    AIMessage(
        "I found three flights:\n1) Swiss LX 254, 2 June 06:15, $240\n2) El Al LY 347, 2 June 09:50, $310\n3) Ryanair FR 8811, 3 June 21:30, $95"
    ),
]
EVENTS = {
    "events": [
        {"event_id": 71, "summary": "Dentist", "start": "2026-03-03T16:00", "location": "12 Herzl St"},
        {"event_id": 72, "summary": "Parents evening", "start": "2026-03-04T19:30", "location": "School hall"},
        {"event_id": 73, "summary": "Piano lesson", "start": "2026-03-05T17:00", "location": "Music centre"},
    ]
}
SCENES["calendar"] = [
    HumanMessage("what's on our calendar this week?"),
    *used("get_calendar", EVENTS, range="this week"),
    AIMessage(
        "This week you have:\n• Dentist on Tuesday at 16:00\n• Parents evening on Wednesday at 19:30\n• Piano lesson on Thursday at 17:00"
    ),
]
SCENES["meals"] = [
    HumanMessage("plan our dinners"),
    *used(
        "get_meal_plan",
        {"monday": {"meal": "Pasta"}, "tuesday": {"meal": "Lentil soup"}, "wednesday": {"meal": "Fish and chips"}},
    ),
    AIMessage("Monday: Pasta. Tuesday: Lentil soup. Wednesday: Fish and chips."),
]
SCENES["groceries"] = [
    *SCENES["detail"],
    HumanMessage("add the ingredients to the grocery list"),
    *used(
        "add_to_grocery_list",
        {
            "grocery_list": [
                {"item": "beef chuck", "qty": 1},
                {"item": "barley", "qty": 1},
                {"item": "carrots", "qty": 4},
            ]
        },
        "call-3",
    ),
    AIMessage("Added beef chuck, barley and carrots to your grocery list."),
]
SCENES["one"] = [
    HumanMessage("somewhere nice to eat?"),
    *used(
        "find_restaurants",
        {
            "data": {
                "restaurants": [
                    {
                        "restaurant_id": 5,
                        "name": "Café Levant",
                        "address": "3 Harbour Rd",
                        "phone": "555-0134",
                        "price_range": "$$",
                    },
                    {
                        "restaurant_id": 6,
                        "name": "Green Door",
                        "address": "18 Mill Ln",
                        "phone": "555-0188",
                        "price_range": "$",
                    },
                ]
            }
        },
    ),
    AIMessage("I can recommend Café Levant, a lovely spot by the harbour. Shall I book a table?"),
]
SCENES["two"] = [
    HumanMessage("which plumbers are free?"),
    *used(
        "list_plumbers",
        [{"name": "Avi Cohen", "rate": 60, "rating": 4.9}, {"name": "Dana Peretz", "rate": 45, "rating": 4.4}],
    ),
    AIMessage("Avi Cohen ($60/h, 4.9 stars) and Dana Peretz ($45/h, 4.4 stars) are both free."),
]
SCENES["text"] = [
    HumanMessage("name ideas for the cat"),
    AIMessage("How about:\n1. Miso\n2. Pepper\n3. Biscuit\n4. Olive"),
]
SCENES["table"] = [
    HumanMessage("open invoices?"),
    *used(
        "list_invoices",
        "| # | vendor | amount | due |\n|---|---|---|---|\n| 1 | Acme Paper | $120.50 | 2026-05-01 |\n| 2 | Bezeq | $49.90 | 2026-04-20 |\n| 3 | City Water | $88.00 | 2026-05-14 |",
    ),
    AIMessage("You have 3 open invoices:\n1. Acme Paper, $120.50\n2. Bezeq, $49.90\n3. City Water, $88.00"),
]
HEBREW_RECIPES = [
    {"id": 31, "name": "מרק עדשים", "minutes": 40, "price": 22},
    {"id": 32, "name": "שקשוקה", "minutes": 20, "price": 18},
    {"id": 33, "name": "עוף בתנור עם תפוחי אדמה", "minutes": 75, "price": 45},
    {"id": 34, "name": "סלט קינואה", "minutes": 15, "price": 30},
]
SCENES["hebrew"] = [
    HumanMessage("תמצא לי מתכונים לארוחת ערב"),
    *used("search_recipes", {"items": HEBREW_RECIPES}),
    AIMessage("מצאתי:\n1. מרק עדשים\n2. שקשוקה\n3. עוף בתנור עם תפוחי אדמה\n4. סלט קינואה"),
]
SPANISH_HOTELS = [
    {"hotel_id": "h1", "nombre": "Hostal del Mar", "precio": 60, "estrellas": 2, "ciudad": "Valencia"},
    {"hotel_id": "h2", "nombre": "Gran Hotel Central", "precio": 180, "estrellas": 5, "ciudad": "Valencia"},
    {"hotel_id": "h3", "nombre": "Posada Azul", "precio": 85, "estrellas": 4, "ciudad": "Valencia"},
]
SCENES["spanish"] = [
    HumanMessage("busca hoteles en valencia"),
    *used("buscar_hoteles", {"resultados": SPANISH_HOTELS}),
    AIMessage("Encontré tres:\n1. Hostal del Mar, 60 €\n2. Gran Hotel Central, 180 €\n3. Posada Azul, 85 €"),
]
SCENES["two lists"] = [
    *SCENES["flights"],
    HumanMessage("and hotels there?"),
    *used(
        "find_hotels",
        {"hotels": [{"id": 1, "name": "Lake View", "price": 150}, {"id": 2, "name": "Old Town Inn", "price": 95}]},
        "call-2",
    ),
    AIMessage("1. Lake View, $150\n2. Old Town Inn, $95"),
]
SCENES["emoji"] = [
    HumanMessage("tasks?"),
    *used(
        "list_tasks",
        [
            {"task_id": 1, "title": "Water plants"},
            {"task_id": 2, "title": "Call grandma"},
            {"task_id": 3, "title": "Fix bike"},
        ],
    ),
    AIMessage("1️⃣ Fix bike\n2️⃣ Water plants\n3️⃣ Call grandma"),
]
SCENES["letters"] = [
    HumanMessage("which paint?"),
    *used(
        "find_paint",
        {
            "hits": [
                {"sku": "P-10", "colour": "Sage", "price": 30},
                {"sku": "P-20", "colour": "Ivory", "price": 28},
                {"sku": "P-30", "colour": "Coral", "price": 35},
            ]
        },
    ),
    AIMessage("a) Ivory - 28\nb) Sage - 30\nc) Coral - 35"),
]
