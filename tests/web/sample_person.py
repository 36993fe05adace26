"""A person as they are after some weeks of texting: thirty memories, five instructions, six conversations."""

from langmem_plugin import PhoneMemory

ERIN, BEN = "+972501234567", "+972507654321"

MEMORIES = [
    ("Lives in Haifa, near the port", "personal", "we moved to Haifa last month, two streets from the port", ("home",)),
    ("Works as a nurse at Rambam hospital", "personal", "I'm a nurse at Rambam, mostly night shifts", ("work",)),
    ("Is allergic to penicillin", "personal", "penicillin gives me a rash, never take it", ("health",)),
    ("Speaks Hebrew, English and some Spanish", "personal", None, ()),
    ("Was born on 14 May 1989", "personal", "my birthday is on May 14th, I'll be 37", ("dates",)),
    ("Drinks coffee black, without sugar", "preference", "black coffee please, no sugar ever", ("food",)),
    ("Likes window seats on trains", "preference", "always take the window seat for me", ("travel",)),
    ("Does not eat fish", "preference", "no fish for me", ("food",)),
    ("Prefers calls after six in the evening", "preference", "call me after six", ()),
    ("Runs five kilometres on Saturdays", "preference", None, ("sport", "weekend")),
    ("Reads crime novels before sleeping", "preference", "a good crime novel and I'm asleep by ten", ()),
    ("Buys bread at the bakery on Masada street", "preference", "the bakery on Masada has the best bread", ("food",)),
    ("Likes the heating at twenty degrees", "preference", None, ("home",)),
    ("Goes to the market on Fridays", "preference", "Friday morning is market time", ("weekend",)),
    (
        "Daughter Mia is seven and goes to Leo Baeck school",
        "relationship",
        "Mia is seven now, second class at Leo Baeck",
        ("family",),
    ),
    ("Brother Tom lives in Valencia", "relationship", "my brother Tom moved to Valencia for love", ("family",)),
    ("Dr. Cohen is the children's doctor", "relationship", "Mia's doctor is Dr. Cohen on Moriah", ("health", "family")),
    ("Neighbour Ruth has the spare key", "relationship", None, ("home",)),
    ("Best friend is Noa from the army", "relationship", "Noa and I were in the army together", ()),
    ("Renovates the kitchen until June", "project", "the kitchen has to be done by June", ("home",)),
    ("Learns Spanish for the visit to Valencia", "project", "I want to speak with Tom's girlfriend when we visit", ()),
    ("Collects photos for mother's seventieth birthday", "project", None, ("family",)),
    ("Electricity is from Bezeq Energy", "company", "I switched to Bezeq Energy", ("bills",)),
    ("The bank is Leumi, branch 903", "company", None, ("bills",)),
    ("The dishwasher will be a Bosch", "decision", "ok, decided: the Bosch one", ("home",)),
    ("No new phone this year", "decision", "I'll keep my old phone this year", ()),
    ("The car's test is due in September", "fact", "the car test is in September", ("car",)),
    ("The wifi password hangs inside the pantry door", "fact", None, ("home",)),
    ("The garden tap needs a new washer", "note", "remind me about the washer of the garden tap", ("home",)),
    ("The blue suitcase has a broken wheel", "note", None, ("travel",)),
]
INSTRUCTIONS = [
    ("Answer in short", 5, None),
    ("Write times as 18:00, never as 6 pm", 3, None),
    ("Remind me of Mia's swimming bag on Tuesdays", 1, "day is tuesday"),
    ("Never use emojis", 4, None),
    ("Say the price in shekels", 1, None),
]
CONVERSATIONS = [
    [
        ("user", "Which dishwasher is quieter, the Bosch or the Siemens?"),
        ("assistant", "The Bosch: 42 dB against 46 dB. It costs ₪2,890."),
        ("user", "ok, decided: the Bosch one"),
        ("assistant", "Good choice. Shall I look for a delivery before June?"),
        ("user", "Yes please, in the evening"),
        ("assistant", "The shop delivers on Tuesday between 18:00 and 20:00."),
    ],
    [
        ("user", "What can I cook tonight without fish?"),
        ("assistant", "How about shakshuka, or a lentil soup? You have eggs and tomatoes on your list."),
        ("user", "Lentil soup! Mia likes it"),
        ("assistant", "Then: red lentils, carrots, cumin, lemon. It takes 25 minutes."),
    ],
    [
        ("user", "Mia has a fever, 38.5. When is Dr. Cohen in?"),
        ("assistant", "Dr. Cohen is in today from 16:00 to 19:00, on Moriah 34."),
        ("user", "Thanks. She cannot take penicillin either?"),
        (
            "assistant",
            "You told me that you are allergic to penicillin. Of Mia I know nothing about it: ask Dr. Cohen.",
        ),
    ],
    [
        ("user", "Trains to Tel Aviv tomorrow morning?"),
        ("assistant", "07:12, 07:42 and 08:12 from Hof HaCarmel, one hour each."),
        ("user", "Take the 07:42, window seat"),
        ("assistant", "Noted: 07:42, window seat."),
    ],
    [
        ("user", "¿Cómo se dice 'kitchen' en español?"),
        ("assistant", "Cocina. «La cocina nueva es muy bonita.»"),
        ("user", "y fregadero?"),
        ("assistant", "That is the sink."),
    ],
    [
        ("user", "מה מזג האוויר בשבת?"),
        ("assistant", "בשבת 24 מעלות ובהיר, טוב לריצה."),
        ("user", "מעולה, אז רצים"),
        ("assistant", "בהצלחה! חמישה קילומטרים כרגיל."),
    ],
]


def tell(memory: PhoneMemory, clock, who: str = ERIN) -> None:
    """Everything above, in the order in which it would have been said."""
    owner = memory.people.resolve(who)
    clock.forward(days=-40)
    memory.consent.switch_on(owner, text="yes", version=1)
    for said in CONVERSATIONS:
        for role, text in said:
            memory.sessions.add_message(owner, role, text)
            clock.forward(seconds=40)
        memory.saver.end_session(owner)
        clock.forward(days=3, hours=1, minutes=7)
    for at, (text, kind, quote, tags) in enumerate(MEMORIES):
        memory.service.remember(
            owner,
            text,
            fact_type=kind,
            tags=tags,
            quote=quote,
            said_at=memory.service.now(),
            private="health" in tags,
            category="Haifa" if at in {0, 11} else None,
            source_type="extracted_from_chat" if quote else "command",
        )
        clock.forward(hours=9, minutes=at)
    [suit] = [each for each in memory.service.list_memories(owner) if "suitcase" in each.text]
    memory.service.supersede(owner, suit.id, "The blue suitcase has a new wheel", fact_type="note", tags=("travel",))
    for text in ("Plans to buy a bicycle for Mia", "Starts a new job in April"):
        memory.service.remember(
            owner, text, status="pending", quote="maybe " + text.lower(), source_type="extracted_from_chat"
        )
    for text, priority, condition in INSTRUCTIONS:
        memory.instructions.add(owner, text, priority=priority, condition=condition)
        clock.forward(minutes=3)
    last = memory.instructions.list_instructions(owner)[-1]
    memory.instructions.update(owner, last.id, active=False)
    if memory.extraction is not None:
        memory.index_past_sessions()
    clock.forward(hours=2)
