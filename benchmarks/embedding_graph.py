"""How langmem_plugin/memory/embedding/minilm_graph.onnx was made: the offline model's graph, without its weights.

The weights stay in the package that brings them: the graph says where in its file each one lies. That package's own
graph turns them into float32 and multiplies 42 MB for each text. This one multiplies int8 with int8 in blocks of 64,
and its vectors agree with the other's to 0.998. `pip install onnx`, then `python -m benchmarks.embedding_graph FILE`.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from langmem_plugin.memory.embedding.offline_embeddings import weights_file

_LAYERS, _HEADS, _WIDTH = 6, 12, 384
_BLOCK = 64
_MOST_OF_ACCURACY = 4  # of MatMulNBits: int8 on both sides
_EPSILON = 1e-12
_MICROSOFT = "com.microsoft"
_EMBEDDINGS = "inner.embeddings."


class Graph:
    def __init__(self, file):
        self._file, self._data = file, file.read_bytes()
        package = onnx.load(str(file))
        self._stored = {each.name: each for each in package.graph.initializer}
        # Of each layer: query, key, value, output, up, down.
        self._matrices = [
            node.input[1]
            for node in package.graph.node
            if node.op_type == "MatMul" and f"{node.input[1]}_q" in self._stored
        ]
        self._nodes, self._tensors = [], {}

    def made(self):
        state = self._embedded()
        for layer in range(_LAYERS):
            state = self._layer(state, f"inner.encoder.layer.{layer}.", self._matrices[6 * layer : 6 * layer + 6])
        self._op("ReduceMean", state, axes=[0, 1], keepdims=0)
        self._nodes[-1].output[0] = "vector"
        graph = helper.make_graph(
            self._nodes,
            "all-MiniLM-L6-v2",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "length"])],
            [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [_WIDTH])],
            list(self._tensors.values()),
        )
        sets = [helper.make_opsetid("", 17), helper.make_opsetid(_MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=sets, ir_version=8).SerializeToString()

    def _embedded(self):
        rows = self._op("Gather", self._weight(f"{_EMBEDDINGS}word_embeddings.weight_q"), "input_ids")
        scales = self._op("Gather", self._weight(f"{_EMBEDDINGS}word_embeddings.weight_scale"), "input_ids")
        words = self._op("Mul", self._op("Cast", rows, to=TensorProto.FLOAT), scales)
        name = f"{_EMBEDDINGS}position_embeddings.weight"
        places = self._op("Cast", self._weight(f"{name}_q"), to=TensorProto.FLOAT)
        places = self._op("Mul", places, self._weight(f"{name}_scale"))
        length, zero, one = (
            self._op("Shape", "input_ids", start=1, end=2),
            self._value("zero", 0),
            self._value("one", 1),
        )
        places = self._op("Slice", places, zero, length, zero)
        kind = self._op("Slice", self._weight(f"{_EMBEDDINGS}token_type_embeddings.weight"), zero, one, zero)
        state = self._op("Add", self._op("Add", words, places), kind)
        norm = [self._weight(f"{_EMBEDDINGS}LayerNorm.{each}") for each in ("weight", "bias")]
        return self._op("LayerNormalization", state, *norm, axis=-1, epsilon=_EPSILON)

    def _layer(self, state, layer, matrices):
        query, key, value, output, up, down = matrices
        biases = [self._weight(f"{layer}attention.self.{each}.bias") for each in ("query", "key", "value")]
        thirds = self._value("thirds", [_WIDTH] * 3)
        parts = self._op("Split", self._product(state, query, key, value), thirds, outputs=3, axis=2)
        bias = self._op("Concat", *biases, axis=0)
        seen = self._op("MultiHeadAttention", *parts, bias, domain=_MICROSOFT, num_heads=_HEADS)
        state = self._added(state, self._product(seen, output), f"{layer}attention.output.")
        within = self._weight(f"{layer}intermediate.dense.bias")
        thought = self._op("BiasGelu", self._product(state, up), within, domain=_MICROSOFT)
        return self._added(state, self._product(thought, down), f"{layer}output.")

    def _added(self, state, more, name):
        weights = [self._weight(f"{name}{each}") for each in ("LayerNorm.weight", "LayerNorm.bias", "dense.bias")]
        return self._op("SkipLayerNormalization", state, more, *weights, domain=_MICROSOFT, epsilon=_EPSILON)

    def _product(self, state, *matrices):
        """The state times these matrices side by side; what is made of weights alone is made as the graph is loaded."""
        held = [self._weight(f"{each}_q") for each in matrices]
        scales = [self._weight(f"{each}_scale") for each in matrices]
        inside, outside = self._stored[held[0]].dims
        outside *= len(matrices)
        turned = self._op("Transpose", self._op("Concat", *held, axis=1), perm=[1, 0])
        raised = self._op("Add", self._op("Cast", turned, to=TensorProto.INT32), self._value("raised", 128, np.int32))
        blocks = self._value(f"blocks of {inside} {outside}", [outside, inside // _BLOCK, _BLOCK])
        raised = self._op("Reshape", self._op("Cast", raised, to=TensorProto.UINT8), blocks)
        each = self._value(f"scales of {inside} {outside}", [outside, inside // _BLOCK])
        scale = self._op("Expand", self._op("Transpose", self._op("Concat", *scales, axis=1), perm=[1, 0]), each)
        scale = self._op("Reshape", scale, self._value("in a row", -1))
        sizes = {"K": inside, "N": outside, "bits": 8, "block_size": _BLOCK, "accuracy_level": _MOST_OF_ACCURACY}
        return self._op("MatMulNBits", state, raised, scale, domain=_MICROSOFT, **sizes)

    def _weight(self, name):
        """A tensor that lies in the package's file."""
        if name not in self._tensors:
            stored = self._stored[name]
            at = self._data.find(stored.raw_data)
            made = TensorProto(name=name, data_type=stored.data_type, dims=stored.dims)
            made.data_location = TensorProto.EXTERNAL
            where = {"location": self._file.name, "offset": at, "length": len(stored.raw_data)}
            for key, value in where.items():
                made.external_data.add(key=key, value=str(value))
            self._tensors[name] = made
        return name

    def _value(self, name, value, kind=np.int64):
        self._tensors[name] = numpy_helper.from_array(np.atleast_1d(np.asarray(value, dtype=kind)), name)
        return name

    def _op(self, kind, *inputs, domain="", outputs=1, **attributes):
        made = [f"{kind} {len(self._nodes)} {each}" for each in range(outputs)]
        self._nodes.append(helper.make_node(kind, list(inputs), made, domain=domain, **attributes))
        return made[0] if outputs == 1 else made


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(Graph(weights_file()).made())
