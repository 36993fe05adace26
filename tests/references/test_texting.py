"""How people text: what each utterance means in a scene, in English, Hebrew and Spanish."""

import pytest

from langmem_plugin.references import resolve

from .scenes import SCENES

# (scene, utterance, names or ids of the items meant, in any order; "" for none)
TABLE = [
    # numbers and ordinals, with the numbering of the reply
    ("recipes", "number 2", "r2"), ("recipes", "save number 1", "r3"), ("recipes", "tell me more about number 3", "r1"), ("recipes", "#4", "r5"),
    ("recipes", "the second one", "r2"), ("recipes", "the 3rd one pls", "r1"), ("recipes", "first one", "r3"), ("recipes", "4", "r5"), ("recipes", "2 please", "r2"),
    ("recipes", "save 2", "r2"), ("recipes", "2 looks good", "r2"), ("recipes", "num 2", "r2"), ("recipes", "no. 3", "r1"), ("recipes", "option 1", "r3"),
    ("recipes", "let's go with option two", "r2"), ("recipes", "1 and 3", "r3 r1"), ("recipes", "save 1, 2 and 4", "r3 r2 r5"), ("recipes", "numbers 2 to 4", "r2 r1 r5"),
    ("recipes", "the first and the third", "r3 r1"), ("recipes", "1st & 2nd", "r3 r2"), ("recipes", "2️⃣", "r2"), ("recipes", "3️⃣ plz", "r1"), ("recipes", "nubmer 2", "r2"),
    ("recipes", "the secnd one", "r2"), ("recipes", "the thrid one", "r1"), ("recipes", "i want the fourth recipe", "r5"), ("recipes", "can u save the 2nd", "r2"),
    ("recipes", "how long does number 3 take", "r1"), ("recipes", "add ingredients from number 4 to my list", "r5"), ("recipes", "ok do number one", "r3"),
    ("recipes", "save 2 to my favorites", "r2"), ("recipes", "is 3 healthy?", "r1"), ("recipes", "3!", "r1"), ("recipes", "what about 4?", "r5"),
    ("recipes", "compare 1 and 2", "r3 r2"), ("recipes", "1-3", "r3 r2 r1"), ("recipes", "both 1 and 4", "r3 r5"), ("recipes", "second", "r2"),
    ("letters", "b", "P-10"), ("letters", "option c", "P-30"), ("letters", "let's do b)", "P-10"), ("emoji", "done with 1", "3"), ("emoji", "2️⃣ is done", "1"),
    ("text", "number 3", "Biscuit"), ("text", "i like the second", "Pepper"), ("text", "the last one!", "Olive"), ("text", "4 is cute", "Olive"),
    ("table", "pay number 2", "Bezeq"), ("table", "pay the third invoice", "City Water"), ("flights", "book the second flight", "LY 347"), ("calendar", "cancel the third one", "73"),
    # last, first n, last n
    ("recipes", "the last one", "r5"), ("recipes", "last one pls", "r5"), ("recipes", "the last two", "r1 r5"), ("recipes", "first two", "r3 r2"), ("recipes", "save the first 3", "r3 r2 r1"),
    ("recipes", "the second to last", "r1"), ("recipes", "next to last one", "r1"), ("recipes", "the bottom one", "r5"), ("recipes", "top 2", "r3 r2"), ("flights", "the middle one", "LY 347"),
    # groups and exceptions
    ("recipes", "all of them", "r3 r2 r1 r5"), ("recipes", "save them all", "r3 r2 r1 r5"), ("recipes", "all but the first", "r2 r1 r5"), ("recipes", "everything except number 2", "r3 r1 r5"),
    ("recipes", "all except the last one", "r3 r2 r1"), ("recipes", "all but the chicken one", "r3 r2 r5"), ("recipes", "all four", "r3 r2 r1 r5"), ("recipes", "save those", "r3 r2 r1 r5"),
    ("two", "both", "Avi Cohen|Dana Peretz"), ("two", "text both of them", "Avi Cohen|Dana Peretz"), ("two", "neither", ""), ("recipes", "none of those", ""),
    ("recipes", "all the recipes except 1 and 2", "r1 r5"), ("recipes", "everything but the tacos", "r3 r2 r1"),
    # names and descriptions
    ("recipes", "the chicken one", "r1"), ("recipes", "the beef one looks good", "r2"), ("recipes", "save the tacos", "r5"), ("recipes", "coconut tofu curry", "r3"),
    ("recipes", "how long is the stew", "r2"), ("recipes", "the one with tofu", "r3"), ("recipes", "the vegan one", "r3"), ("recipes", "let's make the curry", "r3"), ("recipes", "shrmp tacos please", "r5"),
    ("flights", "the swiss one", "LX 254"), ("flights", "the $95 one", "FR 8811"), ("flights", "book the ryanair flight", "FR 8811"), ("flights", "the one at 9:50", "LY 347"),
    ("calendar", "move the dentist to friday", "71"), ("calendar", "the one on Wednesday", "72"), ("calendar", "where's the piano lesson", "73"), ("two", "call dana", "Dana Peretz"), ("table", "pay the bezeq bill", "Bezeq"),
    ("one", "what about green door?", "6"), ("letters", "the coral", "P-30"), ("emoji", "grandma one", "2"),
    # comparatives and superlatives
    ("recipes", "the cheapest one", "r3"), ("recipes", "the quickest", "r5"), ("recipes", "the one with the fewest calories", "r3"), ("recipes", "best rated", "r2"), ("recipes", "the longest one", "r2"),
    ("recipes", "which is the healthiest?", "r3"), ("flights", "the cheaper one", "FR 8811"), ("flights", "earliest flight pls", "LX 254"), ("flights", "the shortest one", "LY 347"),
    ("flights", "the most expensive", "LY 347"), ("two", "the cheaper one", "Dana Peretz"), ("two", "the better rated one", "Avi Cohen"), ("table", "the biggest invoice", "Acme Paper"),
    ("flights", "the latest one", "FR 8811"), ("table", "the one due first", "Bezeq"), ("recipes", "two cheapest", "r3 r1"),
    # pointing
    ("detail", "save that one", "r2"), ("detail", "save it", "r2"), ("detail", "add those ingredients to the grocery list", "r2"), ("detail", "add the ingredients to my list", "r2"), ("detail", "how many servings?", "r2"),
    ("detail", "that recipe", "r2"), ("detail", "actually save number 3 instead", "r1"), ("detail", "what are its steps", "r2"), ("detail", "i love this one", "r2"),
    ("one", "what's its address", "5"), ("one", "book it", "5"), ("one", "yes please", "5"), ("one", "what's the phone number?", "5"), ("one", "sounds good", "5"), ("one", "how do i get there", "5"),
    ("one", "that place", "5"), ("one", "the restaurant", "5"), ("groceries", "order it", "beef chuck|barley|carrots"), ("groceries", "order them", "beef chuck|barley|carrots"), ("two lists", "the second flight", "LY 347"),
    ("two lists", "the second one", "2"), ("two lists", "book the cheapest flight", "FR 8811"), ("two lists", "the cheaper hotel", "2"), ("two", "not avi, the other one", "Dana Peretz"),
    ("meals", "swap wednesday for tacos", "Fish and chips"), ("meals", "change tuesday's", "Lentil soup"),
    # none
    ("recipes", "2 onions", ""), ("recipes", "in 2 weeks", ""), ("recipes", "at 3", ""), ("recipes", "first of all thanks", ""), ("recipes", "just a second", ""), ("recipes", "number 9", ""), ("recipes", "the seventh one", ""),
    ("recipes", "what's the weather tomorrow", ""), ("recipes", "thanks!", ""), ("recipes", "remind me to call mom at 4", ""), ("recipes", "i have 3 kids", ""), ("recipes", "for 4 people", ""), ("recipes", "find me a soup", ""),
    ("recipes", "something else", ""), ("recipes", "show me other options", ""), ("recipes", "not that one", ""), ("recipes", "hello", ""), ("recipes", "set a timer for 10 minutes", ""), ("recipes", "wait one sec", ""),
    ("recipes", "on second thought never mind", ""), ("recipes", "i need 2 kg of flour", ""), ("recipes", "add milk to the grocery list", ""), ("recipes", "what time is it", ""), ("recipes", "how are you", ""),
    ("empty", "save number 2", ""), ("empty", "the second one", ""), ("empty", "order it", ""), ("empty", "that one", ""), ("empty", "all but the first", ""), ("recipes", "last week was great", ""), ("recipes", "at first i was unsure", ""),
    ("calendar", "schedule a meeting at 3 on friday", ""), ("flights", "any flights on june 9?", ""), ("flights", "is there anything cheaper?", ""), ("text", "number 5", ""), ("table", "i paid 2 times already", ""), ("detail", "how's the weather", ""),
    ("groceries", "what's on our calendar this week?", ""), ("recipes", "both my kids are sick", ""), ("recipes", "the 4th of july party", ""), ("recipes", "call me at number 5550134", ""),
    # Hebrew
    ("hebrew", "מספר 2", "32"), ("hebrew", "תשמור את מספר 3", "33"), ("hebrew", "השני", "32"), ("hebrew", "את השלישי בבקשה", "33"), ("hebrew", "האחרון", "34"), ("hebrew", "הראשון", "31"), ("hebrew", "תראה לי את הרביעי", "34"),
    ("hebrew", "2", "32"), ("hebrew", "את 1 ו-3", "31 33"), ("hebrew", "1 ו 2", "31 32"), ("hebrew", "שני הראשונים", "31 32"), ("hebrew", "שתי האחרונות", "33 34"), ("hebrew", "כולם", "31 32 33 34"), ("hebrew", "הכל חוץ מהראשון", "32 33 34"),
    ("hebrew", "כולם חוץ ממספר 2", "31 33 34"), ("hebrew", "הכי זול", "32"), ("hebrew", "את הכי מהיר", "34"), ("hebrew", "הזול ביותר", "32"), ("hebrew", "העוף", "33"), ("hebrew", "את השקשוקה", "32"), ("hebrew", "לפני האחרון", "33"),
    ("hebrew", "עוד שנייה", ""), ("hebrew", "בעוד שבועיים", ""), ("hebrew", "2 בצלים", ""), ("hebrew", "תודה רבה", ""), ("hebrew", "ביום שני", ""), ("hebrew", "קודם כל תודה", ""), ("hebrew", "מספר 9", ""), ("hebrew", "מה מזג האוויר מחר", ""), ("hebrew", "בשעה 3", ""),
    ("recipes", "השני", "r2"), ("recipes", "מספר שלוש", "r1"), ("detail", "תשמור אותו", "r2"), ("detail", "תוסיף את המצרכים לרשימה", "r2"), ("hebrew", "number 2", "32"), ("hebrew", "הכי יקר", "33"), ("hebrew", "משהו אחר", ""),
    ("flights", "הטיסה השנייה", "LY 347"), ("flights", "הזולה יותר", "FR 8811"), ("two", "שניהם", "Avi Cohen|Dana Peretz"), ("one", "מה הכתובת שלו?", "5"), ("one", "תזמין אותו", "5"),
    # Spanish
    ("spanish", "el segundo", "h2"), ("spanish", "numero 3", "h3"), ("spanish", "número 1 por favor", "h1"), ("spanish", "el último", "h3"), ("spanish", "el más barato", "h1"), ("spanish", "la mas cara", "h2"), ("spanish", "el mejor valorado", "h2"),
    ("spanish", "los dos primeros", "h1 h2"), ("spanish", "los últimos dos", "h2 h3"), ("spanish", "todos menos el primero", "h2 h3"), ("spanish", "todos", "h1 h2 h3"), ("spanish", "1 y 3", "h1 h3"), ("spanish", "reserva el 2", "h2"), ("spanish", "la opción 2", "h2"),
    ("spanish", "posada azul", "h3"), ("spanish", "el gran hotel", "h2"), ("spanish", "el penúltimo", "h2"), ("spanish", "el tercero porfa", "h3"), ("spanish", "todos excepto el 2", "h1 h3"), ("spanish", "quiero la primera opcion", "h1"),
    ("spanish", "un segundo", ""), ("spanish", "en 2 semanas", ""), ("spanish", "2 cebollas", ""), ("spanish", "a las 3", ""), ("spanish", "gracias", ""), ("spanish", "en primer lugar gracias", ""), ("spanish", "número 8", ""), ("spanish", "qué tiempo hace mañana", ""),
    ("recipes", "el segundo", "r2"), ("recipes", "la de pollo", "r1"), ("detail", "guárdalo", "r2"), ("detail", "agrega esos ingredientes a la lista", "r2"), ("flights", "el más barato", "FR 8811"), ("two", "los dos", "Avi Cohen|Dana Peretz"),
    ("one", "cuál es su dirección", "5"), ("one", "resérvalo", "5"), ("spanish", "otro", ""), ("spanish", "ninguno", ""), ("recipes", "el de carne", "r2"), ("calendar", "el del miércoles", "72"),
]


def meant(scene: str, utterance: str) -> set[str]:
    found = set()
    for reference in resolve(utterance, SCENES[scene]).references:
        for item in reference.items:
            keys = [key for key in ("id", "event_id", "restaurant_id", "hotel_id", "task_id", "sku", "flight", "name", "vendor", "text", "item", "meal") if key in item]
            found.add(str(item[keys[0]]))
    return found


@pytest.mark.spec("R-1", "R-4")
@pytest.mark.parametrize(("scene", "utterance", "expected"), TABLE, ids=[f"{scene}: {utterance}" for scene, utterance, _ in TABLE])
def test_an_utterance_means_what_a_person_would_mean(scene: str, utterance: str, expected: str) -> None:
    wanted = set(expected.split("|")) if "|" in expected else {expected} if expected in {"Avi Cohen", "Dana Peretz"} else None
    if wanted is None:
        one_word = scene in {"flights", "two lists", "table", "text", "meals"}
        wanted = {expected} - {""} if one_word else set(expected.split())
    assert meant(scene, utterance) == wanted
