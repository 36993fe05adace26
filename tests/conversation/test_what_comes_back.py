"""What comes back is what went in, whatever kind of value a state holds; what cannot is refused and nothing is written."""

import datetime as dt
import decimal
import fractions
import ipaddress
import operator
import pathlib
import re
import subprocess
import sys
import types
import uuid
from array import array
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from enum import Enum, Flag, IntEnum, StrEnum
from typing import Annotated, Any, Generic, NamedTuple, NewType, TypedDict, TypeVar
from zoneinfo import ZoneInfo

import numpy as np
import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.agents import AgentAction, AgentFinish, AgentStep
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage, AIMessageChunk, ChatMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.outputs import Generation, LLMResult
from langchain_core.prompt_values import ChatPromptValue
from langchain_core.tools import tool
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.func import entrypoint
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.store.base import Item
from langgraph.types import Command, Interrupt, Overwrite, PregelTask, Send
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, RootModel, SecretStr, computed_field, field_validator

from langmem_plugin import ConversationSaver, InvalidInput, NotSerializable, PhoneMemory, Settings
from langmem_plugin.conversation.storage.serializer import StrictSerializer
from langmem_plugin.errors import DamagedSession, TypeNotAllowed
from tests.cases import for_each
from tests.conversation.conftest import exact

pytestmark = [pytest.mark.slow, pytest.mark.spec("C-25", "C-2")]

ERIN = "+972501234567"
CONFIG: Any = {"configurable": {"thread_id": ERIN}}
JERUSALEM = ZoneInfo("Asia/Jerusalem")


# Classes as people write them


@dataclass
class Computed:
    """A field that the constructor does not take, and one that it does not keep."""

    amount: int
    doubled: int = field(init=False, default=0)
    tags: list[str] = field(default_factory=list)
    factor: InitVar[int] = 2

    def __post_init__(self, factor: int) -> None:
        self.doubled = self.amount * factor


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    place: tuple[int, int]


class Strict(BaseModel):
    """Each constructor call changes it; not all of it is told when it is dumped."""

    model_config = ConfigDict(extra="allow")

    count: int
    alias: str = Field("a", alias="otherName")
    hidden: str = Field("h", exclude=True)
    key: SecretStr = SecretStr("secret")
    inner: "Strict | None" = None
    _note: str = PrivateAttr("p")

    @field_validator("count")
    @classmethod
    def counted(cls, count: int) -> int:
        return count + 1

    @computed_field  # type: ignore[prop-decorator]
    @property
    def twice(self) -> int:
        return self.count * 2


class Rows(RootModel[list[tuple[int, str]]]):
    pass


class Coloured(Enum):
    RED = (1, 2)
    BLUE = "b"


class Level(IntEnum):
    LOW = 1


class Word(StrEnum):
    YES = "yes"


class Rights(Flag):
    READ = 1
    WRITE = 2


class Spot(NamedTuple):
    aisle: int
    shelf: Any


class Plain:
    def __init__(self, held: Any) -> None:
        self.held = held


class Slotted:
    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held


class Basket(list[str]):
    owner = ""


class Labels(dict[str, int]):
    pass


class Aisle(set[Any]):
    """A set that tells how to build it again with more than its members."""

    def __init__(self, held: Any = (), sign: Any = "") -> None:
        super().__init__(held)
        self.sign = sign

    def __reduce__(self) -> Any:
        return Aisle, ([*self], self.sign)


class Name(str):
    __slots__ = ()


class ShopClosed(Exception):
    pass


OWN = (
    Computed,
    Frozen,
    Strict,
    Rows,
    Coloured,
    Level,
    Word,
    Rights,
    Spot,
    Plain,
    Slotted,
    Basket,
    Labels,
    Aisle,
    Name,
    ShopClosed,
)
NAMES = [f"{__name__}.{each.__name__}" for each in OWN] + ["pydantic.types.SecretStr"]


def changed(value: Any, **attributes: Any) -> Any:
    for name, part in attributes.items():
        setattr(value, name, part)
    return value


class Holder(TypedDict):
    value: Any


KINDS: dict[str, Any] = {
    "a tuple": (1, (2, [3, ()])),
    "tuples in a list": [(1, "a"), (2, "b")],
    "tuples as keys": {(1, (2,)): "x"},
    "numbers as keys": {1: "a", 2.5: "b", None: "c"},
    "enums as keys": {Coloured.RED: 1, Level.LOW: 2},
    "days as keys": {dt.date(2026, 1, 2): 1},
    "ids as keys": {uuid.UUID(int=7): 1},
    "sets as keys": {frozenset({1}): 1},
    "texts of a class as keys": {Name("k"): 1},
    "a set of tuples": {(1, 2), (3, (4,))},
    "a set of sets": {frozenset({1}), frozenset({(2,)})},
    "a frozen set": frozenset({1, "a"}),
    "not a number in a set": {float("nan")},
    "a bounded deque": deque([1, (2,)], maxlen=3),
    "a deque": deque([[1]]),
    "an ordered dict": OrderedDict([("b", 1), ("a", (2,))]),
    "a dict with a default": defaultdict(list, {"a": [1]}),
    "a counter": Counter("hello"),
    "a chain of dicts": ChainMap({"a": 1}, {"b": (2,)}),
    "bytes that change": bytearray(b"ab"),
    "bytes that change, within": {"in": [bytearray(b"ab"), b"ab"]},
    "a large int": 2**70,
    "large ints": [-(2**64), 2**64 - 1, {"x": 2**9_999}],
    "a complex number": complex(1, -2),
    "floats": [float("inf"), -0.0, 5e-324],
    "not a number": float("nan"),
    "a range": range(1, 9, 2),
    "a slice": slice(1, None, 2),
    "a decimal": [decimal.Decimal("1.10"), decimal.Decimal("NaN"), decimal.Decimal("-0")],
    "a fraction": fractions.Fraction(1, 3),
    "an array of Python": array("d", [1.5, 2.5]),
    "a namespace": types.SimpleNamespace(a=(1,), b=[2]),
    "an id": uuid.UUID(int=5),
    "addresses": [
        ipaddress.ip_address("::1"),
        ipaddress.ip_network("10.0.0.0/8"),
        ipaddress.ip_interface("10.1.2.3/8"),
    ],
    "paths": [pathlib.Path("/a/b"), pathlib.PurePosixPath("c"), pathlib.PureWindowsPath("d:/e")],
    "a pattern": re.compile("a+", re.IGNORECASE | re.DOTALL),
    "a day": dt.date(2026, 3, 1),
    "an instant": dt.datetime(2026, 3, 1, 9, 0, 0, 7, tzinfo=dt.UTC),
    "a local instant": dt.datetime(2026, 3, 1, 9),  # noqa: DTZ001
    "the second half past one": dt.datetime(2026, 10, 25, 1, 30, tzinfo=JERUSALEM, fold=1),
    "a time of a zone": dt.time(9, 30, tzinfo=dt.timezone(dt.timedelta(hours=2), "Tel Aviv")),
    "a span": dt.timedelta(days=-1, microseconds=3),
    "a zone": JERUSALEM,
    "a dataclass that computes": changed(Computed(3, tags=["a"]), doubled=99),
    "a dataclass with more than its fields": changed(Computed(3), seen=(1,)),
    "a frozen dataclass": Frozen(place=(1, 2)),
    "a model": changed(Strict(count=1, otherName="z", more=(1, 2)), _note="changed"),
    "a model within": Strict.model_construct(count=1, inner=Strict(count=5), hidden="told"),
    "a model of a list": Rows([(1, "a")]),
    "enums": [Coloured.RED, Level.LOW, Word.YES, Rights.READ | Rights.WRITE],
    "a named tuple": Spot(1, (2, [Spot(3, None)])),
    "an object": changed(Plain([1]), more=(2,)),
    "an object with slots": Slotted((1, {2})),
    "a list of a class": changed(Basket(["a"]), owner="Erin"),
    "a dict of a class": Labels(a=1),
    "a set of a class": Aisle({"tea", ("oat", "milk"), 3}, [3, 1]),
    "a text of a class": Name("Erin"),
    "errors": [ValueError("x", (1,)), KeyError("k"), OSError(2, "no", "file"), changed(ShopClosed("at 8"), until=9)],
    "classes": [int, Coloured, Document],
    "an array of numbers": np.array([[1.5, 2.5]]),
    "an array by columns": np.asfortranarray([[1, 2], [3, 4]]),
    "every second of an array": np.arange(16).reshape(4, 4)[::2, ::2],
    "an array of nothing": np.zeros((0, 3)),
    "an array of no dimension": np.array(5),
    "an array of objects": np.array([1, None, "a", [1, (2,)], {3}], dtype=object),
    "rows of objects": np.array([[None, 1], ["a", 2.5]], dtype=object),
    "records": np.array([(1, 2.5, "a")], dtype=[("a", "i4"), ("b", ">f8"), ("c", "U3")]),
    "an array of texts": np.array(["a", "בוקר"]),
    "an array of days": np.array(["2026-01-02", "NaT"], dtype="M8[D]"),
    "arrays of other numbers": [np.array([True]), np.array([1], ">i4"), np.array([1], "f2"), np.array([1j])],
    "an instant of numpy": np.datetime64("2026-01-02T03:04:05.000000006", "ns"),
    "a span of numpy": np.timedelta64(3, "h"),
    "a document": Document("text", metadata={"at": (1, 2)}),
    "steps of an agent": [AgentAction("find", {"at": (1,)}, "log"), AgentFinish({"a": 1}, "log")],
    "a step that was done": AgentStep(action=AgentAction("find", "x", "log"), observation={1, 2}),
    "what a model gave": LLMResult(generations=[[Generation(text="a")]], llm_output={"n": (1,)}),
    "a prompt": ChatPromptValue(messages=[HumanMessage("a"), AIMessage("b")]),
    "what LangGraph has": [
        Send("node", {"at": (1,)}),
        Interrupt((1,), id="i"),
        Overwrite((1,)),
        Command(update=(("a", 1),)),
    ],
    "a task of LangGraph": PregelTask("id", "name", ("path",)),
    "messages that are none": [RemoveMessage(id="x"), ["a", ("b",)]],
    "messages": [
        HumanMessage("a", id="1", mood="good"),
        ChatMessage("b", role="guest", id="2"),
        AIMessage("c", id="3"),
    ],
    "a piece of a message": AIMessageChunk("a", tool_call_chunks=[{"name": "n", "args": "{", "id": "1", "index": 0}]),
    "messages in a dict with a default": defaultdict(list, {"kept": [HumanMessage("a", id="1")]}),
    "messages in a dataclass": Plain({"kept": (HumanMessage("a", id="1"),)}),
    "a message that sends later": Send("node", {"m": HumanMessage("a", id="1")}),
}


def told(value: Any) -> Any:
    """All that can be told of a value, its class included."""
    kind = type(value)
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.flags.f_contiguous, [told(each) for each in value.flatten().tolist()]
    if isinstance(value, array):
        return value.typecode, value.tolist()
    if isinstance(value, set | frozenset):
        return kind, sorted(map(repr, map(told, value))), told(getattr(value, "__dict__", None))
    if kind.__module__ != __name__ or isinstance(value, Enum):
        held = told([*value.items()]) if isinstance(value, dict) else None
        if isinstance(value, list | tuple | deque):
            held = [told(part) for part in value]
        if isinstance(value, BaseException | types.SimpleNamespace):
            held = told((getattr(value, "args", ()), vars(value)))
        more = [getattr(value, name, None) for name in ("maxlen", "fold", "default_factory", "flags")]
        return kind, held, more, str(exact(value)) if held is None else None
    slots = {name: getattr(value, name) for name in ("held", "place") if hasattr(value, name)}
    plain = [base(value) for base in (str, list, dict) if isinstance(value, base)] or [*getattr(value, "_fields", ())]
    more = [getattr(value, name, None) for name in ("model_extra", "model_fields_set", "__pydantic_private__")]
    return kind, told([slots, getattr(value, "__dict__", {}), plain, more, getattr(value, "args", None)])


@pytest.fixture
def allowing(fresh):
    return lambda: fresh(serde=StrictSerializer(NAMES))


def stored(saver: Any, values: dict[str, Any], writes: Sequence[tuple[str, Any]] = ()) -> Any:
    versions = {name: saver.get_next_version(None, None) for name in values}
    made = {**empty_checkpoint(), "channel_values": values, "channel_versions": versions}
    config = saver.put({"configurable": {**CONFIG["configurable"], "checkpoint_ns": ""}}, made, {}, versions)
    if writes:
        saver.put_writes(config, writes, "task")
    return config


@for_each("kind", KINDS)
def test_a_value_of_any_kind_comes_back_as_it_went_in(allowing, kind):
    value = KINDS[kind]
    result = ToolMessage("found", tool_call_id="c", id="t", artifact={"held": value})
    config = stored(allowing(), {"value": value, "messages": [result]}, [("value", value), ("other", {"in": [value]})])

    found = allowing().get_tuple(config)
    values = found.checkpoint["channel_values"]
    assert told(values["value"]) == told(value)
    assert told(values["messages"][0].artifact["held"]) == told(value)
    assert [told(part if channel == "value" else part["in"][0]) for _, channel, part in found.pending_writes] == [
        told(value)
    ] * 2


NUMBERS = [
    np.float64(5.5),
    np.float32(0.1),
    np.int64(-5),
    np.uint8(3),
    np.bool_(True),
    np.str_("five"),
    np.bytes_(b"5"),
    np.complex128(1j),
    np.float64("nan"),
]


@for_each("number", NUMBERS, ids=lambda number: type(number).__name__)
def test_a_number_of_numpy_comes_back_as_the_number(saver, fresh, number):
    result = ToolMessage("found", tool_call_id="c", id="t", artifact=[{"price": number, number: "key"}])
    asked = AIMessage("", id="a", tool_calls=[{"name": "n", "args": {"price": number}, "id": "c"}])
    config = stored(saver, {"value": {"n": [number, (number,)]}, "messages": [asked, result]})

    values = fresh().get_tuple(config).checkpoint["channel_values"]
    back = [*values["value"]["n"][:1], *values["value"]["n"][1]]
    back += [values["messages"][1].artifact[0]["price"], values["messages"][0].tool_calls[0]["args"]["price"]]
    for each in back:
        assert type(each) is type(number.item())
        assert each == number or number != number  # noqa: PLR0124 - not a number


_numbers = st.one_of(st.integers(-(2**80), 2**80), st.floats(), st.booleans(), st.none(), st.binary(max_size=3))
_leaves = st.one_of(_numbers, st.text(max_size=4), st.sampled_from([*Coloured, Word.YES, dt.date(2026, 1, 1)]))
_keys = st.one_of(st.integers(), st.text(max_size=3), st.tuples(st.integers()), st.sampled_from([*Coloured]), st.none())


def _held(part: Any) -> Any:
    return st.one_of(
        st.lists(part, max_size=3),
        st.lists(part, max_size=3).map(tuple),
        st.dictionaries(_keys, part, max_size=3),
        st.lists(part, max_size=3).map(lambda some: deque(some, maxlen=4)),
        st.dictionaries(st.text(max_size=2), part, max_size=2).map(OrderedDict),
        st.sets(st.tuples(st.integers(), st.text(max_size=2)), max_size=3),
        part.map(Plain),
        st.builds(Spot, st.integers(), part),
    )


@given(value=st.recursive(_leaves, _held, max_leaves=12))
def test_however_values_hold_each_other_they_come_back(value):
    serializer = StrictSerializer(NAMES)

    assert told(serializer.loads_typed(serializer.dumps_typed(value))) == told(value)


# What cannot be stored


REFUSED = {
    "a function": lambda: None,
    "an open file": sys.stdout,
    "an iterator": iter([1]),
    "a view of memory": memoryview(b"a"),
    "a masked array": np.ma.array([1, 2], mask=[0, 1]),
    "an object of no class of ours": object(),
    "a process": subprocess,
    "records of objects": np.array([(1, None)], dtype=[("a", "i4"), ("b", "O")]),
}


@for_each("kind", REFUSED)
@for_each("where", ["channel", "artifact", "write"])
def test_what_cannot_come_back_is_refused_with_its_channels_name_and_nothing_is_written(saver, fresh, kind, where):
    before = stored(saver, {"value": "first", "messages": [HumanMessage("hello", id="h")]})
    value = {"deep": [1, REFUSED[kind]]}
    result = ToolMessage("found", tool_call_id="c", id="t", artifact=value)
    put = {
        "channel": lambda: stored(saver, {"fine": "x" * 900, "value": value}),
        "artifact": lambda: stored(saver, {"fine": "x" * 900, "messages": [HumanMessage("hello", id="h"), result]}),
        "write": lambda: saver.put_writes(before, [("other", "fine"), ("value", value)], "task"),
    }

    with pytest.raises(NotSerializable, match=r"^the channel '(value|messages)'"):
        put[where]()

    [found] = fresh().list(CONFIG)
    assert found.config == before
    assert found.pending_writes == []
    assert [each.text for each in found.checkpoint["channel_values"]["messages"]] == ["hello"]


def test_an_error_of_a_node_is_kept_as_its_text_whatever_it_holds(saver):
    class Failed(Exception):
        pass

    config = stored(saver, {"value": 1}, [("__error__", Failed(lambda: None))])

    [(_, _, error)] = saver.get_tuple(config).pending_writes
    assert error.startswith("Failed(<function")


class Unknown(BaseModel):
    finish: str = "stop"


class Label(str):
    __slots__ = ()


class Cents(int):
    pass


def test_a_text_or_number_of_a_class_that_is_not_allowed_comes_back_plain(saver, fresh):
    config = stored(saver, {"value": {"a": [Label("soup"), (Cents(5),)], Label("k"): 1}})

    value = fresh().get_tuple(config).checkpoint["channel_values"]["value"]
    assert value == {"a": ["soup", (5,)], "k": 1}
    assert [type(value["a"][0]), type(value["a"][1][0]), *map(type, value)] == [str, int, str, str]


def test_what_a_provider_put_beside_its_answer_is_kept_as_data_and_a_tools_artifact_is_refused(saver, fresh):
    answer = AIMessage("yes", id="a", additional_kwargs={"parsed": Unknown()}, response_metadata={"of": [Unknown()]})
    config = stored(saver, {"messages": [answer]})
    saver.put_writes(config, [("messages", [answer])], "task")

    found = fresh().get_tuple(config)
    for message in (found.checkpoint["channel_values"]["messages"][0], found.pending_writes[0][2][0]):
        assert message.additional_kwargs == {"parsed": {"finish": "stop"}}
        assert message.response_metadata == {"of": [{"finish": "stop"}]}
    with pytest.raises(NotSerializable, match="Unknown"):
        stored(saver, {"messages": [ToolMessage("x", tool_call_id="c", artifact=[Unknown()])]})


def test_half_a_surrogate_pair_is_a_question_mark_and_keeps_nobody_from_being_answered(saver):
    config = stored(saver, {"value": ["a\ud83d", {"\ud83d": 1}], "messages": [HumanMessage("b\ud83d", id="h")]})

    values = saver.get_tuple(config).checkpoint["channel_values"]
    assert (values["value"], values["messages"][0].text) == (["a?", {"?": 1}], "b?")


# What LangGraph's own serializer wrote, and classes that have changed since


def test_what_the_stock_serializer_wrote_is_read_as_before():
    stock, ours = JsonPlusSerializer(allowed_msgpack_modules=True), StrictSerializer(NAMES)
    stocked = {
        "set": {1, 2},
        "deque": deque([1]),
        "when": dt.datetime(2026, 3, 1, tzinfo=dt.UTC),
        "id": uuid.UUID(int=1),
        "array": np.array([1.0]),
        "model": Strict(count=1),
        "messages": [
            AIMessage("hi", id="1", tool_calls=[{"name": "n", "args": {"when": dt.date(2026, 1, 1)}, "id": "c"}])
        ],
        "document": Document("text"),
        "send": Send("node", {"m": HumanMessage("x")}),
    }

    typed = stock.dumps_typed(stocked)
    assert exact(ours.loads_typed(typed)) == exact(stock.loads_typed(typed))


def test_fields_that_a_class_got_since_have_their_defaults(monkeypatch):
    serializer = StrictSerializer([f"{__name__}.Order", f"{__name__}.Line"])

    @dataclass
    class Line:
        dish: str

    class Order(BaseModel):
        dish: str

    for kind in (Line, Order):
        kind.__module__, kind.__qualname__ = __name__, kind.__name__
        monkeypatch.setitem(globals(), kind.__name__, kind)
    written = serializer.dumps_typed([Line("soup"), Order(dish="fig")])

    @dataclass
    class LineNow:
        dish: str
        tags: list[str] = field(default_factory=list)
        price: int = 5

    class OrderNow(BaseModel):
        dish: str
        tags: list[str] = Field(default_factory=list)
        price: int = 5

    monkeypatch.setitem(globals(), "Line", LineNow)
    monkeypatch.setitem(globals(), "Order", OrderNow)
    line, order = StrictSerializer([f"{__name__}.Order", f"{__name__}.Line"]).loads_typed(written)
    assert line == LineNow("soup")
    assert order == OrderNow(dish="fig")


# Whose classes need no allowing


def extension(code: int, parts: Any) -> tuple[str, bytes]:
    return "msgpack", ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(parts)))


@for_each("module", ["os", "langchain_core.load.load", "langchain_core.runnables.base", "langgraph.graph.state"])
@for_each("name", ["system", "loads", "importlib.import_module", "RunnableLambda", "CompiledStateGraph", "Popen"])
@for_each("uncalled", [False, True])
def test_only_classes_of_data_are_built_of_what_names_a_package_of_langchain(module, name, uncalled):
    for code, parts in ((41, [module, name, uncalled, ["echo"]]), (45, [module, name])):
        with pytest.raises(DamagedSession):
            StrictSerializer().loads_typed(extension(code, parts))


def test_a_class_that_is_defined_in_a_function_cannot_be_found_again_and_is_refused():
    @dataclass
    class Local:
        amount: int

    name = f"{Local.__module__}.{Local.__qualname__}"
    with pytest.raises(TypeNotAllowed, match=re.escape(f'allowed_types=["{name}"]')):
        StrictSerializer().dumps_typed(Local(1))


_Kind = TypeVar("_Kind")


@dataclass
class Inner:
    amount: int


@dataclass
class Offer(Generic[_Kind]):
    held: _Kind


class Dish(BaseModel):
    parts: list[Inner] = []


class Held(TypedDict):
    level: Level


Price = NewType("Price", Computed)


class Declared(MessagesState):
    """A state that says what it holds, in every way that one can be said."""

    one: Inner
    maybe: Dish | None
    many: Sequence[Frozen]
    named: dict[str, Slotted]
    reduced: Annotated[list[Plain], operator.add]
    spot: Spot
    new: Price
    offer: Offer[Rows]
    held: Held
    undeclared: Any


FILLED: dict[str, Any] = {
    "one": Inner(1),
    "maybe": Dish(parts=[Inner(2)]),
    "many": [Frozen(place=(1, 2))],
    "named": {"a": Slotted(1)},
    "reduced": [Plain(1)],
    "spot": Spot(1, 2),
    "new": Computed(2),
    "offer": Offer(Rows([(1, "a")])),
    "held": {"level": Level.LOW},
}


def filled(saver: Any, **more: Any) -> Any:
    builder = StateGraph(Declared).add_node("fill", lambda _: {**FILLED, "messages": AIMessage("ok"), **more})
    return builder.add_edge(START, "fill").compile(checkpointer=saver)


def within(saver: Any) -> Any:
    """The same as the graph of a node, whose state alone declares the classes."""
    sub = filled(None)

    def call(state: MessagesState) -> Any:
        return {"messages": sub.invoke({"messages": state["messages"]})["messages"]}

    return StateGraph(MessagesState).add_node("call", call).add_edge(START, "call").compile(checkpointer=saver)


def opened(url: str, clock: Any) -> PhoneMemory:
    settings = Settings(search_past_sessions=False)
    return PhoneMemory(url, settings=settings, embeddings=DeterministicFakeEmbedding(size=8), now=clock)


@for_each("build", [filled, within])
def test_the_classes_of_a_graphs_state_need_no_allowing_where_the_graph_is_known(database_url, clock, build):
    with ConversationSaver(database_url, now=clock) as saver:
        graph = build(saver)
        with pytest.raises(NotSerializable, match=r"allow_state_of\(graph\)"):
            graph.invoke({"messages": []}, CONFIG)
        assert saver.allow_state_of(graph) is saver
        graph.invoke({"messages": [HumanMessage("hello")]}, CONFIG)

    with opened(database_url, clock) as memory:
        graph = build(memory.saver)
        memory.check(graph)
        assert graph.get_state(CONFIG).values["messages"][-1].text == "ok"
        if build is filled:
            assert told([graph.get_state(CONFIG).values[name] for name in FILLED]) == told([*FILLED.values()])

    with opened(database_url, clock) as memory:
        assert memory.reply(build(memory.saver), ERIN, "again") == "ok"


def test_a_class_that_no_state_declares_is_refused_with_the_line_that_allows_it(database_url, clock):
    with opened(database_url, clock) as memory:
        graph = filled(memory.saver, undeclared=[Coloured.RED])
        memory.check(graph)
        line = f'with_allowlist([("{__name__}", "Coloured")])'
        with pytest.raises(NotSerializable, match=re.escape(line)) as refused:
            graph.invoke({"messages": [HumanMessage("hello")]}, CONFIG)
        assert "'undeclared'" in str(refused.value)

        eval(f"memory.saver.{line}", {"memory": memory})
        assert memory.reply(graph, ERIN, "again") == "ok"


def test_the_classes_of_a_workflow_are_allowed_too(saver):
    @entrypoint(checkpointer=saver)
    def work(asked: Inner, *, previous: Dish | None = None) -> Dish:
        return Dish(parts=[*(previous.parts if previous else ()), asked])

    saver.allow_state_of(work)
    work.invoke(Inner(1), CONFIG)
    assert work.invoke(Inner(2), CONFIG) == Dish(parts=[Inner(1), Inner(2)])


def test_a_graph_that_is_not_compiled_is_refused(saver):
    with pytest.raises(InvalidInput, match="compile"):
        saver.allow_state_of(StateGraph(Declared))


@for_each("price", NUMBERS[:5], ids=lambda number: type(number).__name__)
def test_a_tool_that_finds_a_number_of_numpy_is_answered(database_url, clock, price):
    @tool(response_format="content_and_artifact")
    def cost() -> tuple[str, list[Any]]:
        """The price."""
        return "5 dollars", [{"item": "soup", "price": price}, (price,)]

    def agent(state: MessagesState) -> Any:
        if state["messages"][-1].type == "human":
            called = {"name": "cost", "args": {}, "id": f"c{len(state['messages'])}"}
            return {"messages": AIMessage("", tool_calls=[called])}
        return {"messages": AIMessage("it is 5 dollars")}

    with opened(database_url, clock) as memory:
        builder = StateGraph(MessagesState).add_node(agent).add_node("tools", ToolNode([cost]))
        builder.add_edge(START, "agent").add_edge("tools", "agent")
        graph = builder.add_conditional_edges("agent", tools_condition, ["tools", END]).compile(
            checkpointer=memory.saver
        )
        for _ in range(2):
            assert memory.reply(graph, ERIN, "what does it cost?") == "it is 5 dollars"


# Lists as LangGraph's own savers give them


@for_each(("limit", "count"), [(None, 3), (-1, 0), (0, 0), (2, 2), (9, 3)])
def test_a_list_is_cut_as_by_the_saver_in_memory(saver, limit, count):
    for number in range(3):
        stored(saver, {"value": number})

    assert len(list(saver.list(CONFIG, limit=limit))) == count


def test_an_item_of_a_store_comes_back(saver):
    at = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    item = Item(value={"a": (1,)}, key="k", namespace=("n",), created_at=at, updated_at=at)

    [back] = [saver.get_tuple(stored(saver, {"value": item})).checkpoint["channel_values"]["value"]]
    assert (back.dict(), back.namespace) == (item.dict(), ("n",))


@pytest.mark.spec("C-25")
def test_an_error_that_was_looked_at_is_stored_as_often_as_it_comes(database_url):
    error = ValueError("x")
    with ConversationSaver(database_url) as saver:
        for _ in range(3):
            assert repr(saver.serde.loads_typed(saver.serde.dumps_typed(error))) == repr(error)
            assert vars(error) == {}
