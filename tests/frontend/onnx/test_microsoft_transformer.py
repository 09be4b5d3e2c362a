"""A small BERT as exporters write it, fused by ONNX Runtime's optimizer and read from the file that this writes."""

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

import hetero

HEADS, WIDTH, INNER, WORDS, PLACES = 2, 8, 32, 11, 6
HIDDEN = HEADS * WIDTH
FUSED = {"SkipLayerNormalization", "BiasGelu", "FusedMatMul"}


class Builder:
    """The nodes and weights of a graph; every operator has one output."""

    def __init__(self):
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(6)

    def weight(self, *shape):
        return self.constant(self.random.standard_normal(shape).astype(np.float32) / 4)

    def constant(self, value):
        self.weights.append(numpy_helper.from_array(np.asarray(value), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def add(self, kind, *inputs, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [f"v{len(self.nodes)}"], f"n{len(self.nodes)}", **attributes))
        return self.nodes[-1].output[0]

    def dense(self, value, size, into):
        return self.add("Add", self.add("MatMul", value, self.weight(size, into)), self.weight(into))

    def layer_norm(self, value):
        return self.add("LayerNormalization", value, self.weight(HIDDEN), self.weight(HIDDEN), axis=-1, epsilon=1e-5)

    def heads(self, value, order):
        apart = self.add("Reshape", value, self.constant(np.array([0, 0, HEADS, WIDTH])))
        return self.add("Transpose", apart, perm=order)

    def mask(self, name):
        """0 for a word, -10000 elsewhere."""
        whole = self.add("Unsqueeze", self.add("Unsqueeze", name, self.constant([1])), self.constant([2]))
        there = self.add("Cast", whole, to=onnx.TensorProto.FLOAT)
        missing = self.add("Sub", self.constant(np.float32(1)), there)
        return self.add("Mul", missing, self.constant(np.float32(-10000)))

    def attention(self, value, mask):
        query, key, content = (
            self.heads(self.dense(value, HIDDEN, HIDDEN), order) for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
        )
        scores = self.add("Div", self.add("MatMul", query, key), self.constant(np.float32(WIDTH**0.5)))
        weights = self.add("Softmax", self.add("Add", scores, mask), axis=-1)
        mixed = self.add("Transpose", self.add("MatMul", weights, content), perm=[0, 2, 1, 3])
        joined = self.add("Reshape", mixed, self.constant(np.array([0, 0, HIDDEN])))
        return self.dense(joined, HIDDEN, HIDDEN)

    def gelu(self, value):
        share = self.add("Erf", self.add("Div", value, self.constant(np.float32(2**0.5))))
        both = self.add("Mul", value, self.add("Add", share, self.constant(np.float32(1))))
        return self.add("Mul", both, self.constant(np.float32(0.5)))

    def layer(self, value, mask):
        value = self.layer_norm(self.add("Add", self.attention(value, mask), value))
        inner = self.gelu(self.dense(value, HIDDEN, INNER))
        return self.layer_norm(self.add("Add", self.dense(inner, INNER, HIDDEN), value))


def bert():
    build = Builder()
    words = build.add("Gather", build.weight(WORDS, HIDDEN), "ids", axis=0)
    places = build.add("Gather", build.weight(PLACES, HIDDEN), build.constant(np.arange(PLACES)[None]), axis=0)
    segments = build.add("Gather", build.weight(2, HIDDEN), "segments", axis=0)
    value = build.layer_norm(build.add("Add", build.add("Add", words, places), segments))
    mask = build.mask("mask")
    for _ in range(2):
        value = build.layer(value, mask)
    build.nodes[-1].output[0] = "y"
    shape = ["N", PLACES]
    inputs = [helper.make_tensor_value_info(n, onnx.TensorProto.INT64, shape) for n in ("ids", "segments", "mask")]
    output = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [*shape, HIDDEN])
    graph = helper.make_graph(build.nodes, "bert", inputs, [output], build.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_a_bert_that_onnxruntime_optimized(tmp_path):
    rng = np.random.default_rng(1)
    ids, segments = rng.integers(0, WORDS, (3, PLACES)), rng.integers(0, 2, (3, PLACES))
    inputs = {"ids": ids, "segments": segments, "mask": (np.arange(PLACES) < [[6], [4], [5]]).astype(np.int64)}
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(bert().SerializeToString(), options, providers=["CPUExecutionProvider"])
    (expected,) = session.run(["y"], inputs)
    kinds = {node.op_type for node in onnx.load(tmp_path / "optimized.onnx").graph.node}
    assert kinds & FUSED == FUSED
    for model in (bert(), tmp_path / "optimized.onnx"):
        found = hetero.Core().compile_model(model, "TEMPLATE")(inputs)["y"]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
