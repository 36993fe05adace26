"""How long it takes to import many facts of one person, and to remember one fact more.

python -m benchmarks.bulk [--facts 2000 10000]

The facts go through `langmem import`'s importer: each is weighed against all that came before. In the same run the same
texts are embedded, and put into LangGraph's InMemoryStore with the same model: neither weighs or writes anything.
Processor time says what the work costs, whatever else the machine does; seconds are what a person waits. `remember` is
measured where 1,000 are known, beside the embedding of texts of the same kind.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from langgraph.store.memory import InMemoryStore

from langmem_plugin import PhoneMemory
from langmem_plugin.database.schema import in_parts
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings
from langmem_plugin.portability.imported_records import ImportedMemory

_PHONE = "+34600000001"
_SINCE = datetime(2016, 1, 1, tzinfo=UTC)
_WORDS = {
    "name": "Anna Ben Chloe David Elena Farid Greta Hugo Ines Jon Katja Liam Mia Noa Omar Pia Rosa Sam Tara",
    "place": "Leeds York Haifa Madrid Oslo Vigo Porto Turin Graz Lyon Bergen Ghent Bath Cork Basel Split",
    "food": "pasta sushi olives lentils cheese mango walnuts rice tofu pears honey garlic figs bread beans curry",
    "thing": "bike car laptop guitar tent sofa lamp camera kayak drone piano boat watch printer oven fridge",
    "adjective": "red blue old new green small big broken shiny cheap wooden electric",
    "role": "sister brother mother father boss neighbour cousin dentist friend uncle",
    "number": " ".join(map(str, range(10, 9_999))),
    "hour": " ".join(map(str, range(8, 20))),
}
_FORMS = (
    "{name} bought a {adjective} {thing} in {place}",
    "{name} lent me a {adjective} {thing}",
    "I live in {place}",
    "My {role} likes {food} with {food}",
    "My {role} {name} moved to {place}",
    "I paid {number} euros for a {adjective} {thing}",
    "I have an appointment with {name} at {hour}:00 in {place}",
    "I am allergic to {food}",
    "The code of the {adjective} {thing} in {place} is {number}",
    "I no longer eat {food} because of {name}",
    "I am reading a book about {thing}s and {food} that {name} gave me in {place} last year",
    "{name}'s {adjective} dog is called {name}",
    "We had dinner with {name} and {name} in {place}, {food} and {food}",
)


def facts(count: int, *, seed: int = 7) -> list[tuple[str, datetime]]:
    chance = random.Random(seed)
    words = {name: choices.split() for name, choices in _WORDS.items()}
    told = []
    for number in range(count):
        form = chance.choice(_FORMS)
        for name, choices in words.items():
            while f"{{{name}}}" in form:
                form = form.replace(f"{{{name}}}", chance.choice(choices), 1)
        told.append((form, _SINCE + timedelta(hours=number)))
    return told


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds, and the seconds of the processor."""
    began, computed = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - computed


def importing(folder: Path, told: list[tuple[str, datetime]]) -> tuple[float, float]:
    records = [
        ImportedMemory(place=f"fact {number}", phone=_PHONE, source_id=str(number), text=text, fields={"said_at": at})
        for number, (text, at) in enumerate(told)
    ]
    with PhoneMemory(f"sqlite:///{folder / f'import{len(told)}.db'}") as memory:
        return timed(lambda: memory.importer.run(records))


def embedding(told: list[tuple[str, datetime]]) -> tuple[float, float]:
    with MemoryService("sqlite://") as memory:
        parts = [*in_parts([text for text, _ in told])]
        return timed(lambda: [memory.embedder.texts(part) for part in parts])


def putting(told: list[tuple[str, datetime]]) -> tuple[float, float]:
    """Return the times of InMemoryStore, which has no file, with the same model; its `batch` takes no text twice."""
    model = OfflineEmbeddings()
    store = InMemoryStore(index={"dims": model.dimension, "embed": model, "fields": ["text"]})
    return timed(lambda: [store.put((_PHONE,), str(number), {"text": text}) for number, (text, _) in enumerate(told)])


def remembering(folder: Path) -> None:
    told, others = facts(1_100, seed=8), facts(100, seed=9)
    with MemoryService(f"sqlite:///{folder / 'one.db'}") as memory:
        memory.remember_many(_PHONE, [(text, {"said_at": at}) for text, at in told[:1_000]])
        embedded = [timed(lambda text=text: memory.embedder.texts([f"{text}!"])) for text, _ in others]
        stored = [
            timed(lambda text=text, at=at: memory.remember(_PHONE, f"{text}.", said_at=at)) for text, at in told[1_000:]
        ]
    alone, whole = (
        [statistics.median(each) * 1_000 for each in zip(*times, strict=True)] for times in (embedded, stored)
    )
    print(f"remember at 1,000 memories: {whole[0]:.1f} ms, {whole[1]:.1f} of the processor (median of 100)")
    print(f"  its embedding alone: {alone[0]:.1f} ms, {alone[1]:.1f} of the processor: {whole[1] / alone[1]:.1f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--facts", type=int, nargs="+", default=[2_000, 5_000, 10_000])
    counts = parser.parse_args().facts
    with tempfile.TemporaryDirectory() as folder:
        remembering(Path(folder))
        print(f"{'':32} {'s':>7} {'processor s':>12} {'ms a fact':>10}")
        for count in counts:
            told = facts(count)
            whole, alone, peer = importing(Path(folder), told), embedding(told), putting(told)
            for name, (seconds, computed) in (
                ("imported", whole),
                ("  embedded alone", alone),
                ("  put into InMemoryStore", peer),
            ):
                print(
                    f"{f'{count:,} {name}':32} {seconds:7.1f} {computed:12.1f} {1_000 * computed / count:10.2f}",
                    flush=True,
                )
            print(f"  of the processor time of InMemoryStore: {whole[1] / peer[1]:.2f} times")


if __name__ == "__main__":
    main()
