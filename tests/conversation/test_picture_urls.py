"""The address of a picture that leads into a private network is given to nobody, whoever wrote it."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langmem_plugin import PhoneMemory
from langmem_plugin.agent.replying.reply_texts import ENGLISH
from langmem_plugin.conversation.media.inline_media import image_block, message_without_inline
from langmem_plugin.conversation.media.picture_urls import why_refused
from langmem_plugin.errors import InvalidInput
from tests.cases import for_each
from tests.chat_graph import chat_graph
from tests.memory.test_bad_text import Letters

pytestmark = pytest.mark.spec("C-8")

ERIN = "+972501234567"
REFUSED = [
    "http://localhost/a.png",
    "http://LOCALHOST./a.png",
    "http://a.localhost/",
    "http://127.0.0.1/",
    "http://127.1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://017700000001/",
    "http://0177.0.0.1/",
    "http://127.0.0.1.nip.io/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[0:0:0:0:0:ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[fc00::1]/",
    "http://[fd12:3456::1]/",
    "http://[::ffff:0:10.0.0.1]/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://[64:ff9b:1::808:808]/",
    "http://[2002:c0a8:101::1]/",
    "http://[2001:0:808:808::80fe:fefe]/",
    "http://[2001:0:a00:1::f7f7:f7f7]/",
    "http://[2001:db8::1]/",
    "http://[2606:4700::5efe:10.0.0.1]/",
    "http://[2606:4700::200:5efe:192.168.0.1]/",
    "http://[fe80::5efe:8.8.8.8]/",
    "http://[fec0::1]/",
    "http://[feff::1]/",
    "http://[fdff:ffff::1]/",
    "http://[5f00::1]/",
    "http://[3fff::1]/",
    "http://[100::1]/",
    "http://[ff02::1]/",
    "http://fritz.box/",
    "http://www.fritz.box/",
    "http://speedport.ip/",
    "http://tplinkwifi.net/",
    "http://router.asus.com/",
    "http://www.routerlogin.net/",
    "http://api.default.svc.cluster.local/",
    "http://postgres.default.svc/",
    "http://kubernetes.default/",
    "http://web.service.consul/",
    "http://host.docker.internal/",
    "http://db.docker/",
    "http://metadata.goog/",
    "http://nas.tail1234.ts.net/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1:8080/",
    "http://100.64.0.1/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://metadata.google.internal/",
    "http://printer.local/",
    "http://postgres/",
    "http://router.lan/",
    "http://intranet.corp/",
    "http://１２７.0.0.1/",
    "http://127。0。0。1/",
    "http://①②⑦.0.0.1/",
    "http://%31%32%37.0.0.1/",
    "http://1.2.3.4.5/",
    "http://example.org@127.0.0.1/",
    "http://127.0.0.1@example.org/",
    "http://example.org\\@127.0.0.1/",
    "http://lvh.me/",
    "http://x.localtest.me/",
    "file:///etc/passwd",
    "ftp://example.org/a.png",
    "gopher://example.org/",
    "javascript://example.org/",
    "jar:http://example.org!/",
    "http:///a.png",
    "http://",
    "https://[::1",
    "http://example.org:99999/",
    "s3://bucket/a.png",
    "gs://bucket/a.png",
    "dict://example.org:11211/",
]
PASSED = [
    "https://example.org/stew.png",
    "http://8.8.8.8/a.png",
    "https://[2606:4700:4700::1111]/a.png",
    "https://[64:ff9b::8.8.8.8]/a.png",
    "https://[2002:808:808::1]/a.png",
    "https://[2606:4700::5efe:8.8.8.8]/a.png",
    "https://fritz.box.example.org/a.png",
    "https://mylocal.example.org/a.png",
    "HTTPS://Example.org/a.png",
    "https://example.org:8443/a.png?x=127.0.0.1",
    "https://localhost.example.org/a.png",
    "https://bücher.example.com/a.png",
    "https://xn--bcher-kva.example.com/a.png",
    "https://example.org./a.png",
    "https://internal.example.org/x",
]


@for_each("url", [*REFUSED, "http://exa\nmple.org/", "http://exam\u200bple.org/", "http://a.org/" + "x" * 5_000])
def test_an_address_that_may_lead_inside_is_refused(url):
    assert why_refused(url) is not None


@for_each("url", PASSED)
def test_a_public_address_is_passed_on_as_it_is(url):
    assert image_block(url) == {"type": "image", "url": url}


@for_each(
    "image",
    [
        "http://169.254.169.254/a.png",
        "file:///etc/passwd",
        "data:image/png;base64,",
        "data:image/svg+xml;base64,PHN2Zy8+",
        "data:text/html,<script>",
        "data:image/png;base64," + "A" * 1_000_000,
        "/dev/zero",
        "/dev/stdin",
        "../../etc/passwd",
        "x" * 10_000,
        "a\x00.png",
        "CON",
    ],
)
def test_a_hostile_picture_is_a_clear_and_short_error(image):
    with pytest.raises(InvalidInput, match=r"image|picture") as refused:
        image_block(image)
    assert len(str(refused.value)) < 20_000


@pytest.fixture
def memory(database_url, clock):
    with PhoneMemory(database_url, embeddings=Letters(), now=clock) as opened:
        yield opened


def test_who_sends_such_a_picture_is_told_that_it_cannot_be_opened_and_the_model_is_not_asked(memory):
    graph = chat_graph(memory, lambda _: pytest.fail("the model was asked"))

    assert memory.reply(graph, ERIN, "look", image="http://169.254.169.254/a.png") == ENGLISH.picture_unreadable
    with pytest.raises(InvalidInput, match="private network: give the picture's bytes"):
        memory.reply(graph, ERIN, "look", image="http://10.0.0.1/a.png", raise_errors=True)


INSIDE = "http://169.254.169.254/latest"
BLOCKS = [
    {"type": "image", "url": INSIDE},
    {"type": "image_url", "image_url": {"url": INSIDE}},
    {"type": "image_url", "image_url": INSIDE},
    {"type": "input_image", "image_url": INSIDE},
    {"type": "input_file", "file_url": INSIDE},
    {"type": "image", "source": {"type": "url", "url": INSIDE}},
    {"type": "video_url", "video_url": {"url": INSIDE}},
    {"type": "media", "mime_type": "image/png", "file_uri": INSIDE},
    {"type": "image_url", "image_url": {"url": "file:///etc/passwd"}},
]


@for_each("block", BLOCKS)
def test_no_message_or_tool_result_makes_a_provider_ask_a_private_address(memory, block):
    words = {"type": "text", "text": "look"}
    call = AIMessage("", tool_calls=[{"name": "read", "args": {}, "id": "1"}])
    result = ToolMessage([words, block], tool_call_id="1", name="read")

    shown = memory.prompt({"messages": [HumanMessage([words, block]), call, result]}, "S", phone=ERIN)

    assert "169.254" not in str(shown)
    assert "passwd" not in str(shown)
    assert shown[1].content[0] == words
    assert "not allowed" in shown[1].content[1]["text"]


def test_a_public_picture_of_a_message_stays(memory):
    block = {"type": "image_url", "image_url": {"url": "https://example.org/stew.png", "detail": "low"}}

    [_, shown] = memory.prompt({"messages": [HumanMessage([block])]}, "S", phone=ERIN)

    assert shown.content == [block]


@for_each(
    "url",
    [
        "data:image/png;base64,!!!! not base64",
        "data:../../etc/passwd;base64,aGVsbG8=",
        "data:text/html;base64,PHNjcmlwdD4=",
        "data:image/png;base64," + "A" * 5_000_000,
        "data:;base64,",
        "data:image/\x00png;base64,iVBORw0KGgo=",
    ],
    ids=["no base64", "a path for a type", "a page", "huge", "nothing", "NUL"],
)
def test_a_hostile_data_url_in_a_message_becomes_a_line_and_at_most_a_file_of_its_digest(memory, url, tmp_path):
    kept = message_without_inline(
        HumanMessage([{"type": "image_url", "image_url": {"url": url}}]), memory.media.describe
    )

    [block] = kept.content
    assert len(str(block)) < 1_000
    if memory.media.folder is not None and memory.media.folder.exists():
        assert all(len(each.stem) == 64 for each in memory.media.folder.iterdir())
    assert not (tmp_path / "etc").exists()
