"""English type nouns that people use for one another, and nouns that name no type; Spanish and Hebrew reach them
through concepts.
"""

from langmem_plugin.references.words.language_table import grouped, word_set

GROUPS = grouped(
    "event|concert|game|gig|festival|performance|match|show|play|party|ticket",
    "movie|film|flick|show|showing|showtime|screening|ticket|cinema|theater",
    "bus|coach|ride|ticket|trip",
    "train|rail|ticket|trip",
    "flight|plane|airline|ticket|trip",
    "doctor|physician|dentist|provider|specialist|clinic|dermatologist|practitioner|appointment|surgeon|medical|visit",
    "therapist|psychologist|psychiatrist|counselor|provider|appointment|doctor",
    "salon|stylist|hairdresser|barber|haircut|hair|provider|appointment",
    "restaurant|table|diner|eatery|cafe|bistro|dinner|lunch|food|dining|bar|pizzeria|meal|pub",
    "hotel|room|inn|hostel|motel|accommodation|guesthouse|lodging|stay|house|resort",
    "apartment|house|property|flat|condo|home|unit|rental|visit",
    "car|vehicle|rental|auto|suv|truck",
    "cab|taxi|ride",
    "song|track|music|tune|single",
    "album|record|music",
    "attraction|museum|park|sight|landmark|venue|tour|pool|college|church|theatre|gallery|nightclub",
    "recipe|dish|meal|dinner|lunch|breakfast|dessert",
    "ingredient|grocery|item",
    "grocery|shopping|cart|basket|list",
    "product|item|article|thing",
    "email|message|mail|text|note|letter",
    "reminder|task|todo|chore|alarm",
    "meeting|appointment|event|call|calendar",
    "reservation|booking|order",
    "order|purchase|package|delivery",
    "invoice|bill|receipt|statement",
    "account|card|wallet",
    "photo|picture|image",
    "document|file|doc|pdf|paper",
    "person|contact|user|member|friend",
    "book|novel|story|title",
    "article|post|story|news",
    "contact|number|person",
    "budget|category|expense|spending",
    "transfer|payment|transaction",
    "class|course|lesson|workshop",
    "stock|share|ticker",
    "plan|menu|schedule|itinerary",
)

PLACE = word_set("place|spot|location|venue|site|establishment|joint")
"""Nouns for anything with an address."""

THING = word_set("thing|item|one|option|result|choice|suggestion|selection|pick|entry|cosa|opcion")
"""Nouns for anything at all."""

NO_TYPE = word_set(
    "day|date|time|week|weekend|month|year|morning|evening|afternoon|night|hour|minute|moment|noon|area|city|town|region|way|point|case|number|address|phone|name|price|range|cost|total|kind|type|sort|bit|lot|reason|amount|people|person|thanks|help|info|information|detail|balance|money|fund|weather|list|end|beginning|rest|top|bottom|same|first|second|third|last|next|left|right|dia|finde|semana|mes"
)
"""Nouns that are properties or times, never the type of an item by themselves."""
