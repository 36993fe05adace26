"""More conversations of our own writing, of other shapes, several turns and three languages; they join SCENES."""

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from pydantic import BaseModel

from .scenes import SCENES, used

SCENES["emails"] = [
    HumanMessage("any new mail?"),
    *used(
        "search_mail",
        {
            "messages": [
                {
                    "id": "m1",
                    "from": "Sarah Levi",
                    "subject": "Invoice for April",
                    "received": "2026-05-01T09:12",
                    "unread": True,
                },
                {
                    "id": "m2",
                    "from": "Dan Brook",
                    "subject": "Team lunch",
                    "received": "2026-05-02T11:40",
                    "unread": False,
                },
                {
                    "id": "m3",
                    "from": "Sarah Levi",
                    "subject": "Re: contract",
                    "received": "2026-05-03T08:05",
                    "unread": False,
                },
                {
                    "id": "m4",
                    "from": "HR",
                    "subject": "Holiday schedule",
                    "received": "2026-04-28T16:20",
                    "unread": True,
                },
            ]
        },
    ),
    AIMessage(
        "You have four recent emails:\n1. Sarah Levi: Invoice for April\n2. Dan Brook: Team lunch\n3. Sarah Levi: Re: contract\n4. HR: Holiday schedule"
    ),
]
SCENES["nested"] = [
    HumanMessage("find recipes"),
    *used(
        "query",
        {
            "status": "ok",
            "data": {
                "recipes": {
                    "count": 3,
                    "items": [
                        {"recipe": {"id": 901, "name": "Shakshuka", "time": "25 min", "difficulty": "easy"}},
                        {"recipe": {"id": 902, "name": "Moussaka", "time": "1 h 20 min", "difficulty": "hard"}},
                        {"recipe": {"id": 903, "name": "Falafel", "time": "45 min", "difficulty": "medium"}},
                    ],
                }
            },
        },
    ),
    AIMessage("I found Shakshuka, Moussaka and Falafel."),
]
SCENES["dict"] = [
    HumanMessage("apartments?"),
    *used(
        "find_flats",
        {
            "101": {"title": "Sunny loft", "rent": 1800, "bedrooms": 1, "parking": False},
            "102": {"title": "Garden flat", "rent": 2300, "bedrooms": 2, "parking": True},
            "103": {"title": "City studio", "rent": 1500, "bedrooms": 0, "parking": False},
        },
    ),
    AIMessage("1. City studio - $1500\n2. Sunny loft - $1800\n3. Garden flat - $2300"),
]
SCENES["noreply"] = [
    HumanMessage("reminders?"),
    *used(
        "list_reminders",
        [{"rid": 1, "text": "Pay rent"}, {"rid": 2, "text": "Book vet"}, {"rid": 3, "text": "Renew passport"}],
    ),
]


class Product(BaseModel):
    sku: str
    name: str
    price: float
    colour: str
    sizes: list[str]


SCENES["pydantic"] = [
    HumanMessage("show shirts"),
    AIMessage("", tool_calls=[{"name": "search_products", "args": {"q": "shirt"}, "id": "z"}]),
    ToolMessage(
        "Found 3 products",
        tool_call_id="z",
        name="search_products",
        artifact=[
            Product(sku="A1", name="Oxford shirt", price=39.9, colour="blue", sizes=["S", "M"]),
            Product(sku="A2", name="Linen shirt", price=55, colour="white", sizes=["L"]),
            Product(sku="A3", name="Flannel shirt", price=29.5, colour="red", sizes=["M", "L"]),
        ],
    ),
    AIMessage("Here you go:\n- Flannel shirt, red, $29.50\n- Oxford shirt, blue, $39.90\n- Linen shirt, white, $55"),
]
SCENES["mcp"] = [
    HumanMessage("movies tonight"),
    AIMessage("", tool_calls=[{"name": "movies", "args": {}, "id": "z"}]),
    ToolMessage(
        [{"type": "text", "text": "3 movies"}],
        tool_call_id="z",
        name="movies",
        artifact={
            "structured_content": {
                "result": [
                    {"movie_id": 7, "title": "Night Train", "start": "19:00", "length_min": 95},
                    {"movie_id": 8, "title": "Blue Lagoon", "start": "21:15", "length_min": 120},
                    {"movie_id": 9, "title": "The Clockmaker", "start": "18:30", "length_min": 140},
                ]
            }
        },
    ),
    AIMessage("Playing tonight: 1) The Clockmaker 18:30 2) Night Train 19:00 3) Blue Lagoon 21:15"),
]
SCENES["hebreply"] = [
    HumanMessage("מה יש השבוע ביומן"),
    *used(
        "get_events",
        [
            {"id": 1, "title": "Dentist", "date": "2026-03-03"},
            {"id": 2, "title": "Soccer practice", "date": "2026-03-04"},
            {"id": 3, "title": "Dinner with grandma", "date": "2026-03-06"},
        ],
    ),
    AIMessage("יש לך:\n1. רופא שיניים ביום שלישי\n2. אימון כדורגל ביום רביעי\n3. ארוחת ערב אצל סבתא ביום שישי"),
]
SCENES["older"] = [
    *SCENES["recipes"],
    HumanMessage("what about desserts?"),
    *used(
        "search_recipes",
        {
            "results": [
                {"id": "d1", "title": "Apple Crumble", "minutes": 50},
                {"id": "d2", "title": "Chocolate Mousse", "minutes": 30},
                {"id": "d3", "title": "Lemon Tart", "minutes": 70},
            ]
        },
        "call-9",
    ),
    AIMessage("1. Apple Crumble\n2. Chocolate Mousse\n3. Lemon Tart"),
]
SCENES["budget"] = [
    HumanMessage("how's the budget?"),
    *used(
        "get_budget_summary",
        {
            "month": "May",
            "categories": [
                {"category": "Groceries", "spent": 420, "limit": 600},
                {"category": "Dining out", "spent": 210, "limit": 150},
                {"category": "Transport", "spent": 90, "limit": 120},
            ],
        },
    ),
    AIMessage("May so far:\n- Groceries: $420 of $600\n- Dining out: $210 of $150\n- Transport: $90 of $120"),
]
SCENES["drill"] = [
    *SCENES["budget"],
    HumanMessage("what about dining out?"),
    *used("get_category", {"category": "Dining out", "spent": 210, "limit": 150, "transactions": 4}, "call-2"),
    AIMessage("Dining out is over by $60."),
]

SCENES["talked"] = [
    *SCENES["recipes"],
    HumanMessage("tell me about number 2"),
    AIMessage("The stew is hearty and takes 95 minutes."),
]
SCENES["talked2"] = [
    *SCENES["talked"],
    HumanMessage("and number 3?"),
    AIMessage("That one is a zesty chicken dish, ready in 35 minutes."),
]
SCENES["chose"] = [*SCENES["two"], HumanMessage("avi sounds good"), AIMessage("Shall I book him?")]
SCENES["saved"] = [
    *SCENES["detail"],
    HumanMessage("save that one"),
    *used("save_recipe", {"status": "saved", "recipe_id": "r2"}, "c9"),
    AIMessage("Saved Beef and Barley Stew to your recipes!"),
]
SCENES["more"] = [
    *SCENES["recipes"],
    HumanMessage("any more?"),
    *used(
        "search_recipes",
        {
            "results": [
                {"id": "r6", "title": "Pea Soup", "minutes": 30},
                {"id": "r7", "title": "Veggie Chili", "minutes": 40},
            ]
        },
        "c7",
    ),
    AIMessage("Sure:\n5. Pea Soup\n6. Veggie Chili"),
]
SCENES["twotools"] = [
    HumanMessage("dinner and a film"),
    *used(
        "search_recipes",
        {"results": [{"id": "p1", "title": "Margherita Pizza"}, {"id": "p2", "title": "Pesto Pasta"}]},
        "a1",
    ),
    *used(
        "search_movies",
        {
            "movies": [
                {"movie_id": "f1", "title": "Heat", "year": 1995},
                {"movie_id": "f2", "title": "Arrival", "year": 2016},
            ]
        },
        "a2",
    ),
    AIMessage("For dinner:\n1. Margherita Pizza\n2. Pesto Pasta\n\nMovies:\n3. Heat (1995)\n4. Arrival (2016)"),
]
SCENES["hebtasks"] = [
    HumanMessage("מה המשימות שלי?"),
    *used(
        "list_tasks",
        {
            "tasks": [
                {"id": "t1", "title": "לשלם ארנונה", "due": "2026-06-01"},
                {"id": "t2", "title": "לקנות מתנה לסבתא", "due": "2026-05-20"},
                {"id": "t3", "title": "לתקן את המזגן", "due": "2026-05-28"},
            ]
        },
    ),
    AIMessage("יש לך שלוש משימות:\n1. לשלם ארנונה (עד 1.6)\n2. לקנות מתנה לסבתא (עד 20.5)\n3. לתקן את המזגן (עד 28.5)"),
]
SCENES["hebone"] = [
    HumanMessage("תמצא לי מסעדה"),
    *used("find_restaurant", {"name": "החצר", "address": "רחוב הרצל 5", "phone": "03-5551234"}),
    AIMessage("מצאתי את החצר, מסעדה נחמדה. לשריין שולחן?"),
]
SCENES["esgroc"] = [
    HumanMessage("que hay en la lista"),
    *used(
        "show_grocery_list",
        {
            "items": [
                {"id": 1, "name": "leche", "qty": 2},
                {"id": 2, "name": "pan integral", "qty": 1},
                {"id": 3, "name": "huevos", "qty": 12},
                {"id": 4, "name": "queso fresco", "qty": 1},
            ]
        },
    ),
    AIMessage("Tu lista:\n- leche (2)\n- pan integral (1)\n- huevos (12)\n- queso fresco (1)"),
]
SCENES["escitas"] = [
    HumanMessage("mis citas de la semana"),
    *used(
        "agenda",
        {
            "eventos": [
                {"id": "c1", "titulo": "Dentista", "fecha": "2026-03-03", "hora": "16:00"},
                {"id": "c2", "titulo": "Reunión de padres", "fecha": "2026-03-04", "hora": "19:30"},
                {"id": "c3", "titulo": "Clase de piano", "fecha": "2026-03-06", "hora": "17:00"},
            ]
        },
    ),
    AIMessage("1. Dentista, martes 16:00\n2. Reunión de padres, miércoles 19:30\n3. Clase de piano, viernes 17:00"),
]
SCENES["products"] = [
    HumanMessage("headphones?"),
    *used(
        "search",
        {
            "hits": [
                {
                    "asin": "B1",
                    "product": "SoundCore Q20",
                    "price": "59.99",
                    "rating": "4.4",
                    "color": "black",
                    "weight": "260 g",
                },
                {
                    "asin": "B2",
                    "product": "Sony XM5",
                    "price": "329.00",
                    "rating": "4.7",
                    "color": "silver",
                    "weight": "250 g",
                },
                {
                    "asin": "B3",
                    "product": "JBL Tune",
                    "price": "39.95",
                    "rating": "4.1",
                    "color": "blue",
                    "weight": "155 g",
                },
            ],
            "total": 3,
        },
    ),
    AIMessage("Top picks:\n1. Sony XM5 — $329\n2. SoundCore Q20 — $59.99\n3. JBL Tune — $39.95"),
]

SCENES["week"] = [
    HumanMessage("show the meal plan"),
    *used(
        "get_meal_plan",
        {
            "week_of": "2026-06-01",
            "days": [
                {"day": "Monday", "meal": {"id": "m1", "title": "Chicken Pad Thai"}},
                {"day": "Tuesday", "meal": {"id": "m2", "title": "Minestrone"}},
                {"day": "Wednesday", "meal": {"id": "m3", "title": "Salmon Bowls"}},
                {"day": "Thursday", "meal": {"id": "m4", "title": "Leftovers"}},
            ],
        },
    ),
    AIMessage("Here's your week:\nMon: Chicken Pad Thai\nTue: Minestrone\nWed: Salmon Bowls\nThu: Leftovers"),
]
SCENES["orders"] = [
    HumanMessage("my orders"),
    *used(
        "list_orders",
        {
            "orders": [
                {
                    "order_id": 1042,
                    "status": "delivered",
                    "total": 58.4,
                    "items": [{"sku": "S1", "name": "Running shoes"}],
                },
                {
                    "order_id": 1077,
                    "status": "shipped",
                    "total": 120.0,
                    "items": [{"sku": "S2", "name": "Desk lamp"}, {"sku": "S3", "name": "Office chair"}],
                },
                {"order_id": 1090, "status": "pending", "total": 19.9, "items": [{"sku": "S4", "name": "Phone case"}]},
            ]
        },
    ),
    AIMessage(
        "You have three orders:\n1. #1042 – Running shoes, delivered\n2. #1077 – Desk lamp, Office chair, shipped\n3. #1090 – Phone case, pending"
    ),
]
SCENES["flights2"] = [
    HumanMessage("flights to rome friday"),
    *used(
        "search_flights",
        {
            "flights": [
                {
                    "id": "F1",
                    "carrier": "ITA",
                    "depart": "2026-07-03 07:10",
                    "arrive": "2026-07-03 10:05",
                    "stops": 0,
                    "price_usd": 220,
                },
                {
                    "id": "F2",
                    "carrier": "Wizz",
                    "depart": "2026-07-03 13:45",
                    "arrive": "2026-07-03 19:30",
                    "stops": 1,
                    "price_usd": 95,
                },
                {
                    "id": "F3",
                    "carrier": "El Al",
                    "depart": "2026-07-03 20:20",
                    "arrive": "2026-07-03 23:15",
                    "stops": 0,
                    "price_usd": 260,
                },
            ]
        },
    ),
    AIMessage(
        "3 flights on Friday:\n1. ITA 07:10, nonstop, $220\n2. Wizz 13:45, 1 stop, $95\n3. El Al 20:20, nonstop, $260"
    ),
]
SCENES["contacts"] = [
    HumanMessage("find dana"),
    *used(
        "search_contacts",
        {
            "contacts": [
                {"id": "c1", "name": "Dana Levi", "phone": "052-1112222", "relation": "teacher"},
                {"id": "c2", "name": "Dana Katz", "phone": "054-3334444", "relation": "pediatrician"},
            ]
        },
    ),
    AIMessage("I found two Danas: Dana Levi (teacher) and Dana Katz (pediatrician). Which one?"),
]
SCENES["soups"] = [
    HumanMessage("soups"),
    *used(
        "search_recipes",
        [
            {"id": "s1", "title": "Tomato Soup", "minutes": 30},
            {"id": "s2", "title": "Lentil Soup", "minutes": 45},
            {"id": "s3", "title": "Greek Salad", "minutes": 15},
        ],
    ),
    AIMessage("1. Tomato Soup\n2. Lentil Soup\n3. Greek Salad"),
]
SCENES["photos"] = [
    HumanMessage("pictures from the trip"),
    *used(
        "list_photos",
        {
            "photos": [
                {"photo_id": "ph1", "taken": "2026-04-02", "place": "Eilat", "favorite": True},
                {"photo_id": "ph2", "taken": "2026-04-03", "place": "Mitzpe Ramon", "favorite": False},
                {"photo_id": "ph3", "taken": "2026-04-05", "place": "Jerusalem", "favorite": False},
            ]
        },
    ),
    AIMessage("1. Eilat (Apr 2)\n2. Mitzpe Ramon (Apr 3)\n3. Jerusalem (Apr 5)"),
]
SCENES["bills"] = [
    HumanMessage("פתוח לתשלום?"),
    *used(
        "list_bills",
        {
            "bills": [
                {"bill_id": 501, "vendor": "חברת החשמל", "amount": 412.5, "due": "2026-05-10"},
                {"bill_id": 502, "vendor": "ארנונה", "amount": 890, "due": "2026-05-20"},
                {"bill_id": 503, "vendor": "בזק", "amount": 99.9, "due": "2026-05-05"},
            ]
        },
    ),
    AIMessage('יש שלושה חשבונות:\n1. חברת החשמל - 412.5 ש"ח\n2. ארנונה - 890 ש"ח\n3. בזק - 99.9 ש"ח'),
]
SCENES["vuelos"] = [
    HumanMessage("vuelos a madrid"),
    *used(
        "buscar_vuelos",
        {
            "vuelos": [
                {"id": "V1", "aerolinea": "Iberia", "salida": "08:15", "precio": 180, "escalas": 0},
                {"id": "V2", "aerolinea": "Ryanair", "salida": "14:40", "precio": 75, "escalas": 1},
                {"id": "V3", "aerolinea": "Vueling", "salida": "21:05", "precio": 110, "escalas": 0},
            ]
        },
    ),
    AIMessage("Hay tres vuelos:\n1. Iberia 08:15 (180 €)\n2. Ryanair 14:40 (75 €)\n3. Vueling 21:05 (110 €)"),
]
SCENES["subset"] = [
    HumanMessage("dinner ideas"),
    *used(
        "search_recipes",
        {
            "results": [
                {"id": f"x{i}", "title": t, "minutes": m}
                for i, (t, m) in enumerate(
                    [
                        ("Baked Ziti", 60),
                        ("Fish Tacos", 25),
                        ("Pumpkin Ravioli", 50),
                        ("Chicken Shawarma", 40),
                        ("Veggie Burgers", 30),
                    ]
                )
            ]
        },
    ),
    AIMessage("My favourites for tonight:\n1. Chicken Shawarma\n2. Fish Tacos"),
]
SCENES["prose4"] = [
    HumanMessage("weekend ideas"),
    *used(
        "find_activities",
        {
            "activities": [
                {"id": "a1", "name": "Science museum", "price": 12},
                {"id": "a2", "name": "Beach day", "price": 0},
                {"id": "a3", "name": "Bowling", "price": 20},
            ]
        },
    ),
    AIMessage("You could go to the beach, try bowling, or visit the science museum."),
]

SCENES["gym"] = [
    HumanMessage("classes tomorrow"),
    *used(
        "list_classes",
        {
            "classes": [
                {
                    "class_id": "k1",
                    "title": "Morning yoga",
                    "starts_at": "2026-05-04T07:00:00",
                    "coach": "Lior",
                    "spots": 4,
                },
                {"class_id": "k2", "title": "Spin", "starts_at": "2026-05-04T12:30:00", "coach": "Maya", "spots": 0},
                {"class_id": "k3", "title": "Pilates", "starts_at": "2026-05-04T18:15:00", "coach": "Lior", "spots": 9},
            ]
        },
    ),
    AIMessage("Tomorrow:\n*1.* Morning yoga 07:00\n*2.* Spin 12:30 (full)\n*3.* Pilates 18:15"),
]
SCENES["files"] = [
    HumanMessage("find the tax docs"),
    *used(
        "drive_search",
        {
            "files": [
                {
                    "fileId": "d1",
                    "fileName": "Tax return 2024.pdf",
                    "modifiedTime": "2025-04-02T10:00:00Z",
                    "sizeKb": 880,
                },
                {
                    "fileId": "d2",
                    "fileName": "Tax return 2025.pdf",
                    "modifiedTime": "2026-04-01T10:00:00Z",
                    "sizeKb": 910,
                },
                {"fileId": "d3", "fileName": "Receipts.xlsx", "modifiedTime": "2026-01-15T08:00:00Z", "sizeKb": 120},
            ]
        },
    ),
    AIMessage("I found:\n1. Tax return 2025.pdf\n2. Tax return 2024.pdf\n3. Receipts.xlsx"),
]
SCENES["gifts"] = [
    HumanMessage("gift ideas for noa"),
    AIMessage(
        "Some ideas:\n\n1. A watercolor set\n2. Roller skates\n3. A dinosaur book\n4. Board game: Catan Junior\n\nWant me to order one?"
    ),
]
SCENES["stores"] = [
    HumanMessage("pharmacies nearby"),
    *used(
        "places",
        {
            "results": [
                {"place_id": "q1", "name": "Super-Pharm", "distance_km": 1.2, "open_now": True},
                {"place_id": "q2", "name": "Good Pharm", "distance_km": 0.4, "open_now": False},
                {"place_id": "q3", "name": "Pharmacy 24", "distance_km": 2.8, "open_now": True},
            ]
        },
    ),
    AIMessage("- Good Pharm (0.4 km, closed)\n- Super-Pharm (1.2 km)\n- Pharmacy 24 (2.8 km)"),
]
SCENES["music"] = [
    HumanMessage("שים מוזיקה רגועה"),
    *used(
        "search_songs",
        {
            "songs": [
                {"song_id": "g1", "title": "Weightless", "artist": "Marconi Union", "length": "8:09"},
                {"song_id": "g2", "title": "River Flows in You", "artist": "Yiruma", "length": "3:10"},
                {"song_id": "g3", "title": "Clair de Lune", "artist": "Debussy", "length": "5:00"},
            ]
        },
    ),
    AIMessage("מצאתי שלושה שירים:\n1. Weightless\n2. River Flows in You\n3. Clair de Lune"),
]
SCENES["regalos"] = [
    HumanMessage("ideas de cena"),
    *used(
        "recetas",
        {
            "recetas": [
                {"id": "rc1", "titulo": "Tortilla de patatas", "minutos": 30, "calorias": 420},
                {"id": "rc2", "titulo": "Gazpacho", "minutos": 15, "calorias": 150},
                {"id": "rc3", "titulo": "Paella de marisco", "minutos": 60, "calorias": 610},
            ]
        },
    ),
    AIMessage("Te propongo:\n1. Gazpacho\n2. Tortilla de patatas\n3. Paella de marisco"),
]
SCENES["regalos2"] = [
    *SCENES["regalos"],
    HumanMessage("la 2, dame detalles"),
    *used(
        "ver_receta",
        {
            "id": "rc1",
            "titulo": "Tortilla de patatas",
            "ingredientes": ["patatas", "huevos", "cebolla", "aceite"],
            "pasos": ["Pelar", "Freír", "Cuajar"],
        },
        "c5",
    ),
    AIMessage("La tortilla lleva patatas, huevos, cebolla y aceite."),
]
SCENES["hebdetail"] = [
    *SCENES["hebrew"],
    HumanMessage("תספר לי על השני"),
    *used("get_recipe", {"id": 32, "name": "שקשוקה", "ingredients": ["עגבניות", "ביצים", "פלפל"], "minutes": 20}, "c5"),
    AIMessage("לשקשוקה צריך עגבניות, ביצים ופלפל. מוכן ב-20 דקות."),
]
