"""An embedding model that fails in every way there is, when it is told to."""

import threading

from langchain_core.embeddings import Embeddings


class Throttled(Exception):
    """Of a provider's own: it derives from nothing anybody else knows."""


def raising(error):
    def fail(vectors):
        raise error

    return fail


def each(change):
    return lambda vectors: [change(vector) for vector in vectors]


def instead(given):
    return lambda _: given


WAYS = {
    "raises OSError": raising(OSError("no route")),
    "raises ValueError": raising(ValueError("bad key")),
    "raises KeyError": raising(KeyError("data")),
    "raises TypeError": raising(TypeError("unexpected argument")),
    "raises its provider's own": raising(Throttled("slow down")),
    "panics": raising(BaseException("a panic in Rust")),
    "NaN": each(lambda vector: [float("nan"), *vector[1:]]),
    "infinite": each(lambda vector: [*vector[1:], float("inf")]),
    "zeros": each(lambda vector: [0.0] * len(vector)),
    "another dimension": each(lambda vector: vector[:16]),
    "an empty vector": each(instead([])),
    "None for a vector": each(instead(None)),
    "strings": each(lambda vector: ["a"] * len(vector)),
    "too large": each(lambda vector: [10**400, *vector[1:]]),
    "one vector too many": lambda vectors: [*vectors, vectors[0]],
    "None for all": instead(None),
}
"""What it does to the vectors that it should have given."""


class Unreliable(Embeddings):
    """Answers as `inner` does, but for texts that hold `about`, while `way` is one of WAYS; `hold` makes it hang."""

    model = "unreliable"

    def __init__(self, inner):
        self.inner, self.way, self.about = inner, None, ""
        self.goes_on = threading.Event()
        self.goes_on.set()
        self.hanging = 0

    def hold(self):
        self.goes_on.clear()

    def embed_documents(self, texts):
        return self._given(texts, self.inner.embed_documents)

    def embed_query(self, text):
        given = self._given([text], lambda texts: [self.inner.embed_query(text) for text in texts])
        return given[0] if given and len(given) == 1 else given

    def _given(self, texts, embed):
        concerned = any(self.about in text for text in texts)
        if concerned and not self.goes_on.is_set():
            self.hanging += 1
            self.goes_on.wait(60)
            self.hanging -= 1
        if self.way is None or not concerned:
            return embed(texts)
        return self.way([[1.0 / 384] * 384 for _ in texts])
