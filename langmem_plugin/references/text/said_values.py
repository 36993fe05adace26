"""What a text says of time, dates, durations, money and quantities, in every language and notation.

Each word becomes one letter for its kind ("quarter past six" is `q>n`), and phrases are patterns over those letters:
one line serves every language. A pattern's length is bounded, so the time is linear in the text.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from langmem_plugin.references.text.tokens import is_stop, stem
from langmem_plugin.references.text.value_words import Word, kinds_of_words, whole_numbers
from langmem_plugin.references.text.values import Value, dates


class _Phrase:
    """Words that fit a pattern, by the names of its groups."""

    def __init__(self, all_words: list[Word], match: re.Match[str]) -> None:
        self.match, self.place, self.end = match, match.start(), match.end()
        self.all_words = all_words

    def __getitem__(self, name: str) -> Word | None:
        start = self.match.start(name)
        return self.all_words[start] if start >= 0 and start < self.match.end(name) else None

    def must(self, name: str) -> Word:
        return self.all_words[self.match.start(name)]

    def part(self, name: str) -> list[Word]:
        return self.all_words[self.match.start(name) : self.match.end(name)]

    @property
    def following(self) -> Word | None:
        return self.all_words[self.end] if self.end < len(self.all_words) else None


_HOUR = re.compile(r"(\d{1,2})[.:]?(\d\d)")
_Found = list[Value]


def _clock(hour: Word, minute: float, half: Word | None) -> _Found:
    """A time of day, if it is one: the hour may carry its minutes ("615", "6.15", "18:15")."""
    if hour.code == "c":
        minutes, leading = hour.amount + minute, hour.text[0] == "0"
    elif hour.digits and (written := _HOUR.fullmatch(hour.text)) and int(written[2]) < 60:
        minutes, leading = float(int(written[1]) * 60 + int(written[2]) + minute), hour.text[0] == "0"
    else:
        minutes, leading = hour.amount * 60 + minute, hour.text[:1] == "0" and len(hour.text) > 1
    if minutes % 1 or not -60 <= minutes <= 1440:
        return []
    minutes %= 1440
    if half is None or minutes >= 780:
        return [Value("time", minutes, exact=minutes >= 780 or minutes < 60 or leading)]
    late = half.amount if half.code == "m" else 0 if half.until <= 720 else 720
    minutes = minutes % 720 + late
    if half.code == "D" and half.until > 1440 and not half.amount <= minutes:
        minutes -= 720
    return [Value("time", minutes)]


def _past(phrase: _Phrase) -> _Found:
    by, minutes = phrase["by"], {"q": 15.0, "f": 30.0}
    amount = minutes.get(by.code, by.amount) if by else 0
    before = phrase.must("side").code == "<"
    if not 0 < amount < 60 or (before and not (amount % 5 == 0 or phrase["unit"])):
        return []
    return _clock(phrase.must("hour"), -amount if before else amount, phrase["half"])


def _from_to(phrase: _Phrase) -> _Found:
    """Both ends: "from 5 to 8", "3-4 pm", of which 11-1 pm begins before noon; "ten to 8 pm" is one time as well."""
    half, hint = phrase["half"], phrase["hint"]
    if (not half and not (hint and hint.text in ("from", "desde", "since"))) or not _is_bare(phrase):
        return []
    first, last = (_clock(phrase.must(end), 0, half) for end in ("hour", "until"))
    if half and first and last and first[0].amount > last[0].amount:
        first = [replace(first[0], amount=(first[0].amount + 720) % 1440)]
    minute = phrase.must("hour").amount
    spoken = phrase.must("side").code == "<" and minute % 5 == 0 and 0 < minute < 30 and not hint
    before = _clock(phrase.must("until"), -minute, half) if spoken else []
    return [*before, *first, *last] if first and last else before


def _hour_and(phrase: _Phrase) -> _Found:
    minute, link, hinted = phrase.must("minute"), phrase.must("link").text, phrase["hint"] is not None
    amount = {"q": 15.0, "f": 30.0}.get(minute.code, minute.amount)
    spoken = minute.code == "n"
    if link in ("and", "&") or (phrase.must("hour").digits and spoken) or (spoken and not 5 <= amount < 60):
        return []
    if spoken and not hinted and (amount % 5 or amount < 10):
        return []
    found = _clock(phrase.must("hour"), -amount if phrase.must("link").code == "_" else amount, phrase["half"])
    if minute.code == "f" and not hinted and not phrase["half"]:
        found.append(Value("quantity", phrase.must("hour").amount + 0.5))
    return found


def _two_numbers(phrase: _Phrase) -> _Found:
    """Twelve fifty is a time and a price; twenty twenty four is a year too."""
    first, second, half = phrase.must("hour"), phrase.must("minute"), phrase["half"]
    if "-" in phrase.match.group() and first.digits:
        return []
    spoken = "z" in phrase.match.group() or 10 <= second.amount < 100
    if not spoken or first.digits != second.digits or first.amount % 1 or second.amount % 1:
        return []
    found = _clock(first, second.amount, half) if first.amount < 25 and second.amount < 60 else []
    if not half and not phrase["hint"]:
        found.append(Value("money", first.amount + second.amount / 100))
        if first.amount in (19, 20):
            found.append(Value("date", first.amount * 100 + second.amount, "year"))
    return found


def _at(phrase: _Phrase) -> _Found:
    hour = phrase.must("hour")
    found = _clock(hour, 0, phrase["half"]) if _is_bare(phrase) else []
    return found and found + ([] if phrase["half"] or hour.code == "1" else [Value("quantity", hour.amount)])


def _is_bare(phrase: _Phrase) -> bool:
    """Whether no noun follows: "from 3 restaurants" is no hour."""
    after = phrase.following
    return after is None or after.code != "w" or is_stop(after.text) or after.start == 0


def _duration(phrase: _Phrase) -> _Found:
    total, amount, unit = 0.0, 1.0, 60.0
    for word in phrase.part("main"):
        if word.code in "n1":
            amount = word.amount
        elif word.code == "u":
            unit = word.amount
            total, amount = total + amount * unit, 1.0
    tail, first = phrase["tail"], phrase.part("main")[0]
    if first.code == "u" and first.text != "hour" and phrase.all_words[phrase.place + 1].code == "n":
        return []
    if tail and tail.code in "qf":
        total += unit / (2 if tail.code == "f" else 4)
    elif tail and unit == 60 and tail.amount < 60:
        total += tail.amount
    elif tail:
        phrase.end = phrase.match.start("before_tail")
        if phrase.match.start("main") + 1 == phrase.end and phrase.must("main").code == "u":
            return []
    found = [Value("duration", total)]
    last = phrase.all_words[phrase.end - 1]
    if last.text == "h" or (tail and phrase.all_words[phrase.place + 1].text == "h"):
        hour = phrase.all_words[phrase.place]
        found += _clock(hour, total % 60, None) if hour.amount % 1 == 0 else []
    elif last.text == "m" and phrase.end - phrase.place == 2:
        found.append(Value("quantity", total / 1000, "km"))
    return found


def _part_of_unit(phrase: _Phrase) -> _Found:
    many, part, unit = phrase["many"], phrase.must("part"), phrase.must("unit")
    share = (many.amount if many and part.code == "q" else 1) / (2 if part.code == "f" else 4)
    return [Value("duration", (share + (many.amount if many and part.code == "f" else 0)) * unit.amount)]


def _and_part(phrase: _Phrase) -> _Found:
    amount = phrase.must("many").amount + (0.5 if phrase.must("part").code == "f" else 0.25)
    unit = phrase["unit"]
    return [Value("duration", amount * unit.amount) if unit else Value("quantity", amount)]


_SCALES = {"m": 1e6, "b": 1e9, "bn": 1e9}


def _money(phrase: _Phrase) -> _Found:
    sign, figures, cents = phrase.must("unit"), [phrase["one"], phrase["two"]], phrase["cents"]
    after = phrase.following
    if sign.text in "$£€₪¥₹" and sign.start > phrase.must("one").end and after and after.start == sign.end:
        return []
    found = []
    for figure in figures:
        if figure:
            thousands = sign.unit not in ("USD", "GBP", "ILS") and re.fullmatch(r"\d{1,3}\.\d{3}", figure.text)
            amount = figure.amount * (1000 if thousands else 1) + (
                cents.amount / 100 if cents and cents.amount < 100 else 0
            )
            if after and after.text in _SCALES and after.start == figure.end:
                amount, phrase.end = amount * _SCALES[after.text], phrase.match.end() + 1
            found.append(Value("money", amount, sign.unit))
            if sign.text in ("pound", "pounds", "libra", "libras"):
                found.append(Value("quantity", amount * 0.45359237, "kg"))
    return found


def _measure(phrase: _Phrase) -> _Found:
    unit = phrase.must("unit")
    factor, name = (1.0, "percent") if unit.code == "%" else (unit.amount, unit.unit)
    figures = [figure for figure in (phrase["one"], phrase["two"]) if figure]
    if unit.code == "u":
        return [Value("duration", figure.amount * factor) for figure in figures]
    if unit.code == "y":
        return [Value("money", figure.amount / 100) for figure in figures]
    return [Value("quantity", figure.amount * factor, name) for figure in figures]


def _written_date(phrase: _Phrase) -> _Found:
    parts = [int(part) for part in re.split(r"[-/.]", phrase.must("date").text)]
    if phrase.must("date").code == "I":
        return dates(*parts)
    year = (parts[2] + (2000 if parts[2] < 100 else 0)) if len(parts) == 3 else 0
    if parts == [24, 7]:
        return []
    return list(dict.fromkeys(dates(year, parts[0], parts[1]) + dates(year, parts[1], parts[0])))


def _named_date(phrase: _Phrase) -> _Found:
    day, month, year = phrase["day"], phrase.must("month"), phrase["year"]
    known = year is not None and year.digits and 1000 <= year.amount < 3000
    if year and not known:
        phrase.end = phrase.match.start("before_year")
    if day and 1000 <= day.amount < 3000 and day.digits:
        return [Value("date", month.amount, "month"), Value("date", day.amount, "year")]
    if day is None or day.amount % 1 or not 1 <= day.amount <= 31:
        return []
    return dates(int(year.amount) if known and year else 0, int(month.amount), int(day.amount))


def _calendar(phrase: _Phrase) -> _Found:
    word = phrase.must("word")
    if word.code == "D":
        return [Value("time", word.amount, until=word.until)]
    if word.code == "C":
        return [Value("time", word.amount)]
    if word.code == "o":
        return [Value("date", word.amount, "day-of-month")] if word.digits and 1 <= word.amount <= 31 else []
    return [Value("date", word.amount, {"W": "weekday", "M": "month", "R": "relative-day"}[word.code])]


_DAYS = 7


def _day_limit(phrase: _Phrase) -> _Found:
    """As in "before the tenth"; not "the one after the third". "לשישי" is for Friday, which Hebrew counts."""
    before = phrase.all_words[phrase.place - 1].text if phrase.place else ""
    word = phrase.must("day")
    day = word.amount
    if "א" <= word.text[:1] <= "ת" and 1 <= day < _DAYS:
        return [Value("date", (day - 2) % _DAYS, "weekday")]
    return [Value("date", day, "day-of-month")] if 1 <= day <= 31 and before not in ("one", "ones") else []


def _is_plural(word: str) -> bool:
    return not is_stop(word) and (stem(word) != word or word.endswith(("ים", "ות")))


def _bare(phrase: _Phrase) -> _Found:
    figure, after = phrase.must("one"), phrase.following
    counted = after is not None and after.code == "w" and _is_plural(after.text)
    found = [Value("quantity", figure.amount, stem(after.text) if counted and after else "")]
    if counted or (not figure.digits and not phrase["hint"]):
        return found
    if re.fullmatch(r"(?:19|20)\d\d", figure.text):
        found.append(Value("date", figure.amount, "year"))
    elif re.fullmatch(r"\d{1,2}\.?\d\d", figure.text):
        found += _clock(figure, 0, None)
    if phrase["hint"] and 1 <= figure.amount <= 31 and figure.amount % 1 == 0:
        found.append(Value("date", figure.amount, "day-of-month"))
    return found


def _rough_hour(phrase: _Phrase) -> _Found:
    hour = phrase.must("hour")
    return [Value("quantity", hour.amount), *_clock(hour, 0, None)] if _is_bare(phrase) else []


# Each is a pattern, what builds its values, and whether only a person's words may be read so: a field that says
# "615" is no time. The first that yields values is taken, so longer phrases stand before their parts.
_UNITLESS = r"(?!-?[uxU%yk])"
_RULES: tuple[tuple[re.Pattern[str], Callable[[_Phrase], _Found], bool], ...] = tuple(
    (re.compile(pattern.replace("{H}", r"(?:[i@l]{0,3}(?P<half>[mD]))?").replace("{end}", _UNITLESS)), build, guess)
    for pattern, build, guess in (
        (r"(?P<date>[IS])", _written_date, False),
        (r"(?P<month>M)\.?i?(?P<day>[no])(?![:])(?P<before_year>)(?:[.i]?(?P<year>n))?{end}", _named_date, False),
        (
            r"[e@i]?-?(?P<day>[no])-?\.?[i@<l]{0,2}(?P<month>M)\.?(?P<before_year>)(?:[.i]?(?P<year>n))?{end}",
            _named_date,
            False,
        ),
        (r"(?P<hint>@)?(?P<hour>[nc])(?P<side>[-<])(?P<until>[nc]){H}{end}", _from_to, False),
        (r"[@l]?a?(?P<by>[qfn])-?(?P<unit>u?)(?P<side>[><])[@l]?(?P<hour>[n1])O?{H}{end}", _past, False),
        (r"(?P<hint>[@l<]{0,3})-?(?P<hour>[n1])(?P<link>[&_])(?P<minute>[qfn])O?{H}{end}", _hour_and, False),
        (r"(?P<hour>c)O?{H}", lambda phrase: _clock(phrase.must("hour"), 0, phrase["half"]), False),
        (r"(?P<many>n)(?:&a?)?(?P<part>[fq])-?(?P<unit>u)", _and_part, False),
        (r"(?P<many>n)?-?(?P<part>[fq])-?i?[ai]?(?P<unit>u)", _part_of_unit, False),
        (r"(?P<one>n)[-<](?P<two>n)-?(?P<unit>[uU%y])", _measure, False),
        (
            r"(?P<main>(?:[n1a]-?u|(?<!N)u(?=&?a?[fqn]))(?:[&.]?n-?u){0,4})(?P<before_tail>)(?:&?a?(?P<tail>[fq]|n{end}))?",
            _duration,
            False,
        ),
        (r"(?P<unit>x)-?(?P<one>n)(?:[-<]x?(?P<two>n))?(?P<cents>)(?:[a/i]u)?", _money, False),
        (r"(?P<one>[n1a])(?:[-<](?P<two>n))?-?(?P<unit>x)(?:&?(?P<cents>n)y?{end})?(?:[a/i]u)?", _money, False),
        (r"(?P<one>[n1])(?:[-<](?P<two>n))?-?(?P<unit>[%Uy])", _measure, False),
        (r"(?P<hour>n)(?=[m]|[i@l]{0,3}D){H}", lambda phrase: _clock(phrase.must("hour"), 0, phrase["half"]), False),
        (r"(?P<hour>[n1])O", lambda phrase: _clock(phrase.must("hour"), 0, None), False),
        (r"(?P<hint>[@l><]{0,3})(?P<hour>n)[-z]?(?P<minute>n){H}{end}", _two_numbers, True),
        (r"(?P<part>f)(?P<hour>n){H}{end}", lambda phrase: _clock(phrase.must("hour"), 30, phrase["half"]), True),
        (r"[@l><~]{1,3}-?(?P<hour>[n1])(?![-:&]?[nfquxU%yk/]){H}", _at, True),
        (r"(?P<many>n)&a?(?P<part>[fq])(?P<unit>)", _and_part, False),
        (r"(?P<many>n)(?P<part>f)(?P<unit>)", _and_part, False),
        (r"(?P<hour>n)-?(?=s)", _rough_hour, True),
        (r"[<>]i?(?P<day>o)", _day_limit, True),
        (r"(?P<word>[MWRDCo])", _calendar, False),
        (r"(?P<hint>e?)(?P<one>n)(?:[a/]u)?", _bare, False),
    )
)
_STARTS = "n1aqfcISMoWRDCux@l><~e"


def said_values(text: str) -> list[Value]:
    """What a person says, in order of the text, with every reading of a phrase that has several.

    A bare "615", "twelve fifty" or "at 7" is a time beside a number or a price.
    """
    return _read(text, guess=True)


def written_values(text: str) -> list[Value]:
    """What a field's text says, where a number is never taken for a time."""
    return _read(text, guess=False)


def _read(text: str, *, guess: bool) -> list[Value]:
    pieces = kinds_of_words(text)
    found = dict.fromkeys(_values(whole_numbers(pieces, ones=True), guess=guess))
    codes = "".join(piece.code for piece in pieces)
    if any(pieces[match.end() - 1].text == "one" for match in re.finditer("n1", codes)):
        found |= dict.fromkeys(_values(whole_numbers(pieces, ones=False), guess=guess))
    return sorted(found, key=lambda value: value.span[0])


def _values(all_words: list[Word], *, guess: bool) -> Iterator[Value]:
    codes = "".join(word.code for word in all_words)
    place = 0
    while place < len(codes):
        end = place + 1
        if codes[place] in _STARTS:
            for pattern, build, guesses in _RULES:
                if guesses and not guess:
                    continue
                match = pattern.match(codes, place)
                if match is None:
                    continue
                phrase = _Phrase(all_words, match)
                if found := build(phrase):
                    end = phrase.end
                    rough = "~" in codes[max(0, place - 1) : end] or codes[end : end + 2].startswith(("s", "-s"))
                    span = all_words[place].start, all_words[end - 1].end
                    for value in found:  # a bare number is read as a time too, where that may be guessed
                        if guess or value.kind != "time" or build is not _bare:
                            yield replace(value, span=span, about=rough)
                    break
        place = end
