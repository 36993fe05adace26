"""One key per person, whatever form a number comes in; two keys for whatever else differs; no log shows one whole."""

import logging
import unicodedata

import phonenumbers
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import identified, is_group, masked, normalised, refuse_unknown, thread_key
from tests.cases import for_each

MOM = "+972501234567"


@pytest.mark.spec("C-1")
@for_each(
    "form",
    [
        "+972501234567",
        " +972 50-123-4567 ",
        "+972501234567\n",
        "+972(50)1234567",
        "+972 (0)50 123 4567",
        "\u202a+972 50\u2011123\u20114567\u202c",
        "\u200e\u2068+972\u00a050\u200b1234567\u2069\ufeff",
        "＋９７２５０１２３４５６７",
        "+٩٧٢٥٠١٢٣٤٥٦٧",
        "972501234567@c.us",
        "972501234567@C.US",
        "972501234567@s.whatsapp.net",
        "+972501234567@c.us",
        " 972501234567@c.us\n",
        "whatsapp:+972501234567",
        "WhatsApp:+972501234567",
        "whatsapp:972501234567",
        "whatsapp:\u202a+972 50-123-4567\u202c",
        "whatsapp:972501234567@c.us",
        "tel:+972501234567",
        "tel:+972-50-123-4567",
        "sms:+972501234567",
        "rcs:+972501234567",
        "signal:+972501234567",
        "sms:972501234567",
        "972501234567:3@s.whatsapp.net",
        "972501234567_1:12@s.whatsapp.net",
    ],
)
def test_every_international_form_is_one_key(form, caplog):
    assert normalised(form) == thread_key(form) == MOM == identified(form).key
    assert identified(form).kind == "phone"
    assert caplog.records == []


@pytest.mark.spec("C-1", "C-20")
@for_each("region", [None, "IL", "US", "GB", "DE", "BR"])
@for_each("digits", ["972501234567", "447911123456", "12025550123", "5511987654321", "4915112345678"])
def test_digits_as_the_cloud_api_sends_them_are_the_person_of_the_number_in_every_region(digits, region, caplog):
    assert normalised(digits, region) == f"+{digits}" == normalised(f"+{digits}", region)
    assert thread_key(digits, region) == (f"+{digits}" if region else digits)
    assert caplog.records == []


@pytest.mark.spec("C-1", "C-20")
@for_each(
    ("digits", "region", "key"),
    [
        ("2025550123", "US", "+12025550123"),  # of a length that Egypt has too, but no number there
        ("501234567", "IL", "+972501234567"),
        ("7911123456", "GB", "+447911123456"),
        ("015112345678", "DE", "+4915112345678"),
        ("6568234567", "US", "+6568234567"),  # a number of Singapore as well as of Texas: whoever sends digits means it
        ("656-823-4567", "US", "+16568234567"),  # nobody writes a number of Singapore in this way
        ("1 (656) 823-4567", "US", "+16568234567"),
        ("0501234567", None, "0501234567"),
        ("12345", None, "12345"),
        ("20241122", None, "20241122"),
    ],
)
def test_digits_are_national_only_where_no_other_reading_is_as_good(digits, region, key):
    assert normalised(digits, region) == key


@pytest.mark.spec("C-20")
@for_each(
    ("written", "kind", "key"),
    [
        ("US.13491208655302741918", "whatsapp", "US.13491208655302741918"),
        ("US.ENT.11815799212886844830", "whatsapp", "US.ENT.11815799212886844830"),
        ("whatsapp:US.13491208655302741918", "whatsapp", "US.13491208655302741918"),
        ("IL.a8Bc9", "whatsapp", "IL.a8Bc9"),
        ("123456789012345@lid", "whatsapp", "123456789012345@lid"),
        ("123456789012345:3@lid", "whatsapp", "123456789012345@lid"),
        ("whatsapp:123456789012345:31@LID", "whatsapp", "123456789012345@lid"),
        ("telegram:123456", "telegram", "telegram:123456"),
        ("tg:123456", "telegram", "telegram:123456"),
        ("TG:123456", "telegram", "telegram:123456"),
        ("tg:-1001234567890", "group", "telegram:-1001234567890"),
        ("972501234567-1586000000@g.us", "group", "972501234567-1586000000@g.us"),
        ("whatsapp:120363040000000000@g.us", "group", "120363040000000000@g.us"),
        ("120363040000000000@broadcast", "group", "120363040000000000@broadcast"),
        ("status@broadcast", "group", "status@broadcast"),
        ("user:42", "user", "user:42"),
        ("1f1e6085-c4aa-61b0-8000-000000000000", "user", "1f1e6085-c4aa-61b0-8000-000000000000"),
        ("1F1E6085-c4aa-61b0-8000-000000000000", "user", "1F1E6085-c4aa-61b0-8000-000000000000"),
        ("signal:1f1e6085-c4aa-61b0-8000-000000000000", "user", "signal:1f1e6085-c4aa-61b0-8000-000000000000"),
        ("langgraph-studio-user", "user", "langgraph-studio-user"),
    ],
)
@for_each("region", [None, "IL", "US"])
def test_every_known_kind_has_one_key_and_no_warning(written, kind, key, region, caplog):
    assert normalised(written, region) == thread_key(written, region) == key == thread_key(key, region)
    assert (identified(written, region).kind, identified(key).kind) == (kind, kind)
    assert is_group(key) is (kind == "group")
    assert caplog.records == []


@pytest.mark.spec("C-20")
def test_a_number_that_is_no_text_is_telegrams():
    assert normalised(123456) == normalised("telegram:123456")
    assert is_group(normalised(-1001234567890))
    assert normalised(972501234567) != normalised("972501234567")
    for nobody in (0, True, False, 10**19, -(10**400)):
        with pytest.raises(InvalidInput, match="Telegram"):
            normalised(nobody)


@pytest.mark.spec("C-1", "P-6")
@for_each(
    "opaque",
    [
        "telegram:0123",
        "telegram:+123",
        "telegram:12a",
        "telegram:99999999999999999999",
        "tg:4２",
        "whatsapp:bob",
        "whatsapp:whatsapp:+972501234567",
        "whatsapp:tel:+972501234567",
        "US.hello",
        "us.13491208655302741918",
        "USA.123",
        "12x@lid",
        "sms:12",
        "972501234567@example.com",
        "[" * 900,
    ],
)
def test_what_only_resembles_a_known_kind_is_taken_byte_for_byte_with_one_warning(opaque, caplog):
    assert normalised(opaque) == normalised(opaque) == opaque == thread_key(opaque)
    assert [record.event for record in caplog.records] == ["phone.opaque"]


@pytest.mark.spec("C-1")
def test_two_zeros_for_the_plus_are_read_where_a_phone_is_meant_and_in_a_region():
    assert normalised("00972501234567") == normalised("00972-50-1234567") == MOM
    assert thread_key("00972501234567", "IL") == MOM
    assert thread_key("00972501234567") == "00972501234567"


@pytest.mark.spec("C-1")
@for_each("form", ["050-123-4567", "0501234567", "972-50-123-4567", "(050) 123 4567"])
def test_national_forms_are_read_in_their_region(form):
    assert normalised(form, "IL") == thread_key(form, "IL") == MOM


@pytest.mark.spec("C-1")
def test_the_same_digits_are_another_person_in_another_region():
    assert normalised("0501234567", "IL") != normalised("0501234567", "DE")


@pytest.mark.spec("C-1")
def test_a_number_of_no_known_range_is_still_a_number():
    assert normalised("+1 555 0100 234") == "+15550100234"


@pytest.mark.spec("C-1")
def test_a_group_is_its_own_key_and_not_its_creators():
    group = "972501234567-1586000000@g.us"
    assert normalised(group) == thread_key(group) == group
    assert is_group(group)
    assert not is_group(MOM)


@pytest.mark.spec("C-1")
def test_anything_else_is_a_key_as_it_stands_with_a_warning_that_does_not_show_it(caplog):
    with caplog.at_level(logging.WARNING):
        assert normalised("telegram:grandmother") == "telegram:grandmother"
    assert "phone.opaque" in caplog.text
    assert "grandmother" not in str([record.__dict__ for record in caplog.records])


@pytest.mark.spec("C-1")
def test_a_national_form_without_a_region_is_no_number(caplog):
    with caplog.at_level(logging.WARNING):
        assert normalised("050-123-4567") == "050-123-4567"
    assert "1234567" not in str([record.__dict__ for record in caplog.records]).replace("-", "")


@pytest.mark.spec("C-1")
def test_a_known_number_or_group_is_taken_without_a_warning(caplog):
    with caplog.at_level(logging.WARNING):
        normalised(MOM)
        normalised("972501234567-1586000000@g.us")
    assert caplog.records == []


@pytest.mark.spec("C-1")
@for_each(
    "nobody",
    [
        "",
        "   ",
        "\n",
        "+",
        "＋",
        "+-----",
        "\u200e+\u200e",
        "whatsapp:",
        "whatsapp:+",
        "WhatsApp: ",
        "tel:",
        "tel:whatsapp:",
        "sms:+",
        "rcs:",
        "messenger:",
        "signal:",
        "telegram:",
        "tg:",
        "user:",
        "user: ",
        "@c.us",
        "@g.us",
        "whatsapp:@c.us",
        "@lid",
        ".",
    ],
)
def test_what_names_nobody_is_refused(nobody):
    for key in (normalised, thread_key):
        with pytest.raises(InvalidInput, match="names nobody"):
            key(nobody)


@pytest.mark.spec("C-1")
@for_each(
    "nobody",
    [
        *("None", "null", "undefined", "whatsapp:undefined", "user:None", "null@c.us", "0", "+0000000", "0@lid"),
        *("anonymous", "Unknown", "whatsapp:Restricted"),
    ],
)
def test_what_programs_write_for_nothing_is_nobody(nobody):
    with pytest.raises(InvalidInput, match="names nobody"):
        normalised(nobody)


@pytest.mark.spec("C-20")
@for_each(
    ("by_sms", "by_whatsapp", "region"),
    [
        ("+525512345678", "5215512345678", "MX"),
        ("+528112345678", "5218112345678", "MX"),
        ("+5531996883193", "553196883193", "BR"),
        ("+5511987654321", "551187654321", "BR"),
        ("+5491123456789", "541123456789", "AR"),
        ("+5493512345678", "543512345678", "AR"),
    ],
)
@for_each("form", ["+{}", "whatsapp:+{}", "{}", "00{}", "{}@c.us", "{}:3@s.whatsapp.net", "tel:+{}", "whatsapp:{}"])
def test_a_number_that_whatsapp_writes_in_another_way_is_one_key(by_sms, by_whatsapp, region, form, caplog):
    for digits in (by_sms[1:], by_whatsapp):
        for of in (None, region, "IL", "US"):
            assert normalised(form.format(digits), of) == by_sms
    assert caplog.records == []


@pytest.mark.spec("C-20")
@for_each("other", ["+553132345678", "+552134567890", "+5215512345", "+54800123456", "+541145", "+5255123456"])
def test_other_numbers_of_these_countries_stay_as_they_are(other):
    assert normalised(other) == other


@pytest.mark.spec("C-1")
@for_each("national", ["0501234567", "050-123-4567", "+0501234567"])
def test_a_number_without_its_country_names_the_setting_that_says_it(national, caplog):
    assert normalised(national) == national
    assert "LANGMEM_DEFAULT_REGION" in caplog.text
    with pytest.raises(InvalidInput, match="LANGMEM_DEFAULT_REGION"):
        refuse_unknown(identified(national))


@pytest.mark.spec("C-20")
def test_a_door_takes_known_kinds_alone():
    for known in (MOM, "tg:5", "user:erin", "1f1e6085-c4aa-61b0-8000-000000000000", "123456789012345@lid", "1-2@g.us"):
        refuse_unknown(identified(known))
    with pytest.raises(InvalidInput, match="user: before"):
        refuse_unknown(identified("garbage"))


@pytest.mark.spec("C-1")
@for_each(
    "thread",
    [
        "1f1e6085-c4aa-61b0-8000-000000000000",
        "session one",
        "abc",
        "thread-1",
        "1",
        "42",
        "00000042",
        "2024-11-22",
        "00123456789",
        " padded ",
    ],
)
@for_each("region", [None, "IL", "US", "DE"])
def test_a_thread_that_is_no_phone_stays_as_it_is_without_a_word(thread, region, caplog):
    assert thread_key(thread, region) == thread
    assert caplog.records == []


@pytest.mark.spec("C-1")
@for_each("thread", ["20241122", "0501234567", "1586000000", "00972501234567", "050-123-4567"])
def test_a_thread_of_digits_is_a_phone_only_where_a_region_says_how_to_read_it(thread):
    assert thread_key(thread) == thread
    assert thread_key(thread, "IL").startswith("+")


@pytest.mark.spec("C-1")
@for_each(
    ("one", "another"),
    [
        ("bob", "bob "),
        ("bob", " bob"),
        ("bob", "Bob"),
        ("bob", "bob\u200b"),
        ("bob", "ｂｏｂ"),
        ("zoe\u0301", "zo\u00e9"),
        ("telegram:42", "telegram:４２"),
        ("972501234567-1586000000@g.us", "972501234567-1586000000@G.US"),
        ("+-----x", "+.....x"),
        ("+1234567890123456", "+1234567890123457"),
    ],
)
def test_what_is_no_phone_is_told_apart_to_the_last_byte(one, another):
    assert (normalised(one), normalised(another)) == (one, another) == (thread_key(one), thread_key(another))


@pytest.mark.spec("C-13")
@for_each("broken", ["bob\0", "bob\n", "\x1fshared", "\x1b[31mbob", "\x85bob", "bob\ud83d", "b" * 1_001, "é" * 501])
def test_what_no_database_can_hold_or_no_screen_show_is_no_key(broken):
    for key in (normalised, thread_key):
        with pytest.raises(InvalidInput, match="control characters"):
            key(broken)


separators = st.sampled_from(["", "", "", " ", "-", ".", "\u00a0", "\u2011", "\u200b", "\u202c", "/"])
scripts = st.sampled_from(["0123456789", "０１２３４５６７８９", "٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९"])
spelled = st.text("0123456789+ ().-/\u200e\u2011＋٣", min_size=1, max_size=20) | st.from_regex(
    r"\+?[0-9 ()./-]{5,24}(@c\.us|@C\.US)?", fullmatch=True
)
prefixed = st.builds("{}{}".format, st.sampled_from(["whatsapp:", "tel:", "tg:", "telegram:", "signal:"]), spelled)
anything = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=40)


def names_nobody(text):
    try:
        normalised(text)
    except InvalidInput:
        return True
    return False


@st.composite
def spellings(draw, digits):
    """One way to write the number."""
    script = draw(scripts)
    written = "".join(draw(separators) + script[int(digit)] for digit in digits)
    return draw(st.sampled_from(["+{}", " +{} ", "\u202a+{}\u202c", "＋{}"])).format(written)


@st.composite
def pairs(draw):
    """Two texts, mostly with one character between them."""
    one = draw(spelled | anything | spellings("972501234567"))
    at = draw(st.integers(0, len(one)))
    put = draw(st.sampled_from(["", " ", "-", "+", "0", "7", "٣", "\u200b", "\u0301", "x", "@c.us"]))
    return one, one[:at] + put + one[at + draw(st.integers(0, 1)) :]


@pytest.mark.spec("C-1")
@given(digits=st.from_regex(r"[1-9][0-9]{4,14}", fullmatch=True), data=st.data())
def test_every_spelling_of_a_number_is_one_key(digits, data):
    spelling = data.draw(spellings(digits))
    assert normalised(spelling) == thread_key(spelling) == normalised(f"+{digits}") == normalised(f"{digits}@c.us")


@pytest.mark.slow
@pytest.mark.spec("C-1", "P-6")
@settings(max_examples=150)
@given(pair=pairs(), region=st.sampled_from([None, "IL", "US"]))
def test_two_inputs_are_one_key_only_if_they_are_one_number_or_the_same_bytes(pair, region):
    one, another = pair
    assume(one != another and not names_nobody(one) and not names_nobody(another))
    for key in (normalised, thread_key):
        if key(one, region) == key(another, region):
            assert _numbers_in(one, region) & _numbers_in(another, region)


def _numbers_in(text, region):
    """As another reader would: the digits, and what libphonenumber makes of them, with and without the region."""
    seen = "".join(each for each in text.lower() if unicodedata.category(each) not in ("Cf", "Zs", "Cc"))
    kept = seen.removesuffix("@c.us")
    assert all(each in "+＋().-/\u2011" or each.isdecimal() for each in kept)
    digits = "".join(str(unicodedata.decimal(each)) for each in kept if each.isdecimal())
    if kept == seen and kept[0] not in "+＋":
        if not digits.startswith("00"):
            readings = {f"+{digits}"} | ({digits} if region else set())
            return {_e164(each, region) for each in readings} - {None}
        digits = digits[2:]
    return {normalised(f"+{digits}")}


def _e164(text, region):
    try:
        return phonenumbers.format_number(phonenumbers.parse(text, region), phonenumbers.PhoneNumberFormat.E164)
    except phonenumbers.NumberParseException:
        return None


@pytest.mark.spec("C-1")
@given(text=spelled | prefixed | anything, region=st.sampled_from([None, "IL", "US", "AR", "GB"]))
def test_a_key_is_its_own_key(text, region):
    assume(not names_nobody(text))
    for key in (normalised, thread_key):
        told = str(key(text, region))
        assert key(told, region) == key(told) == told


@pytest.mark.spec("C-1")
@given(digits=st.from_regex(r"[1-9][0-9]{4,14}", fullmatch=True))
def test_a_person_and_a_number_are_one_key_and_a_mask_hides_most_of_it(digits):
    assert normalised(f"{digits}@c.us") in (normalised(f"+{digits}"), f"{digits}@c.us")
    assert masked(f"+{digits}") in ("…", f"…{digits[-3:]}")
    assert f"{digits}@c.us" not in masked(f"{digits}@c.us")


def test_masks_tell_two_people_apart():
    assert masked(MOM) == "…567"
    assert masked("972501234567-1586000000@g.us") == "…000@g.us"
    assert masked("12345") == "…"


@pytest.mark.spec("C-1")
@for_each(
    ("key", "told"),
    [
        ("+972501234567", "…567"),
        ("972501234567@c.us", "…567@c.us"),
        ("telegram:@erin", "…"),
        ("telegram:5", "…"),
        ("telegram:123456789", "…789"),
        ("email:erin@example.com", "…com"),
        ("contact@+972501234567", "…567"),
    ],
)
def test_a_log_shows_too_little_to_reach_anybody(key, told):
    assert masked(key) == told
