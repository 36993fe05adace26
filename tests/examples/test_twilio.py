"""The Twilio example over real HTTP: signed forms in, TwiML in the response."""

from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree as ET

import pytest

from langmem_plugin.agent.replying.reply_texts import ENGLISH
from tests.cases import for_each
from tests.examples.conftest import SETTINGS, http
from tests.examples.payloads import signed_by_twilio, twilio

pytestmark = pytest.mark.slow

ERIN = "+14158675309"
# Of Twilio's own documentation and of its libraries' tests, for the token and the URL of SETTINGS.
DOCUMENTED = {"CallSid": "CA1234567890ABCDE", "Caller": ERIN, "Digits": "1234", "From": ERIN, "To": "+18005551212"}
DOCUMENTED_SIGNATURE = "RSOYDt4T1cUTdK1PDd93/VVr8B8="
REPEATED = "Sid=CA123&SidAccount=AC123&Digits=5678&Digits=1234&Digits=1234"
REPEATED_SIGNATURE = "IK+Dwps556ElfBT0I3Rgjkr1wJU="


@pytest.fixture(scope="module")
def url(one_worker):
    return one_worker("twilio").url


def said(response):
    """The messages of the TwiML."""
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("application/xml")
    return [message.text for message in ET.fromstring(response.content).findall("Message")]


@pytest.mark.spec("U-1")
def test_the_signature_is_that_of_twilios_documentation(url):
    headers = {"x-twilio-signature": DOCUMENTED_SIGNATURE}
    form = {"content-type": "application/x-www-form-urlencoded"}

    # Neither is a message, and that is all that is wrong with them.
    assert http.post(url, data=DOCUMENTED, headers=headers).status_code == 400
    assert (
        http.post(url, content=REPEATED, headers={"x-twilio-signature": REPEATED_SIGNATURE, **form}).status_code == 400
    )
    assert SETTINGS["twilio"]["TWILIO_AUTH_TOKEN"] == "12345"


@pytest.mark.spec("U-1")
def test_a_form_that_twilio_did_not_sign_is_refused(url, outside):
    right = twilio(ERIN, "SM1", "<forged>")
    signature = right["headers"]["x-twilio-signature"]

    for wrong in ("", signature[:-1], signature.lower(), "é"):
        headers = {"x-twilio-signature": wrong.encode("latin-1")}
        assert http.post(url, data=right["data"], headers=headers).status_code == 403
    assert http.post(url, data=right["data"]).status_code == 403
    assert http.post(url, data={**right["data"], "Body": "<other>"}, headers=right["headers"]).status_code == 403
    assert http.post(url, files={"Body": b"<file>"}, headers=right["headers"]).status_code == 403
    assert outside.asked["<forged>"] == 0


@pytest.mark.spec("C-21", "U-1")
def test_every_delivery_of_a_message_gets_the_same_text(url, outside):
    outside.pause = 0.2
    message = twilio(ERIN, "SM2", "<hello & goodbye>")

    with ThreadPoolExecutor(5) as pool:
        at_once = [pool.submit(http.post, url, **message) for _ in range(5)]
    later = http.post(url, **message)

    assert [said(each.result()) for each in at_once] + [said(later)] == [["You said <hello & goodbye>"]] * 6
    assert outside.asked["<hello & goodbye>"] == 1


@pytest.mark.spec("C-21", "U-1")
def test_sms_and_whatsapp_of_one_number_are_one_conversation(url, outside):
    http.post(url, **twilio(ERIN, "SM3", "/remember I like tea"))

    listed = said(http.post(url, **twilio(f"whatsapp:{ERIN}", "SM4", "/memories")))

    assert "I like tea" in listed[0]


@pytest.mark.spec("U-1")
def test_a_picture_is_fetched_and_shown_to_the_model(url, outside):
    media = {"NumMedia": "1", "MediaContentType0": "image/png", "MediaUrl0": f"{outside.url}/file/twilio"}

    http.post(url, **twilio(ERIN, "MM5", "<what is this?>", **media))

    [(path, authorization)] = outside.requests
    assert path == "/file/twilio"
    assert authorization.startswith("Basic ")
    assert "data:image/png;base64,iVBORw0KGgow" in str(outside.prompts[-1])


@pytest.mark.spec("U-1")
def test_what_cannot_be_opened_is_said_so(url, outside):
    media = {"NumMedia": "1", "MediaContentType0": "audio/ogg", "MediaUrl0": f"{outside.url}/file/voice"}

    assert said(http.post(url, **twilio(ERIN, "MM6", "", **media))) == [ENGLISH.cannot_open]

    assert outside.requests == []


@pytest.mark.spec("U-1")
@for_each("missing", ["From", "MessageSid"])
def test_a_form_that_is_no_message_is_a_bad_request(url, missing):
    form = twilio(ERIN, "SM7", "<hello>")["data"]
    del form[missing]

    assert http.post(url, **signed_by_twilio(form)).status_code == 400


@pytest.mark.spec("U-1")
def test_a_long_answer_is_several_messages(url, outside):
    long = " ".join(f"word{number}" for number in range(500))

    messages = said(http.post(url, **twilio(ERIN, "SM8", f"<{long}>")))

    assert len(messages) == 3
    assert " ".join(messages) == f"You said <{long}>"
