"""Fused operators of ONNX Runtime's optimizer against ONNX Runtime: single operators and optimized zoo models."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

import hetero
from tests import zoo
from tests.frontend.onnx.compare import assert_close

rng = np.random.default_rng(8)
DOMAIN = "com.microsoft"


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int32)


X, W = floats(2, 3, 8), floats(8, 8)
IMAGE, FILTERS = floats(1, 3, 6, 7), floats(4, 3, 3, 3)
IDS, MASK = ints([1, 3, 2], [0, 4, 4]), ints([1, 1, 0], [1, 1, 1])
EMBEDDINGS = [floats(5, 8), floats(4, 8), floats(2, 8)]
GAMMA, BETA = 1 + floats(8), floats(8)
PLACES, CACHES = np.array([[0, 1, 2], [4, 2, 0]]), [floats(6, 2), floats(6, 2)]
KEY, VALUE = floats(2, 5, 8), floats(2, 5, 8)

# The operator, its inputs (None where left out), how many outputs it has, and its attributes
CASES = {
    "FusedConv": ("FusedConv", [IMAGE, FILTERS, floats(4)], 1, {"activation": "Relu", "kernel_shape": [3, 3]}),
    "FusedConv, clipped": (
        "FusedConv", [IMAGE, FILTERS], 1,
        {"activation": "Clip", "activation_params": [-0.5, 1.5], "kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    "FusedConv with a sum": (
        "FusedConv", [IMAGE, FILTERS, floats(4), floats(1, 4, 6, 7)], 1,
        {"activation": "Relu", "kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    "FusedGemm": ("FusedGemm", [floats(2, 3), floats(4, 3), floats(4)], 1, {"activation": "Relu", "transB": 1}),
    "FusedGemm, leaky": (
        "FusedGemm", [floats(2, 3), floats(3, 4), floats(4)], 1, {"activation": "LeakyRelu", "activation_alpha": 0.3}),
    "FusedMatMul": ("FusedMatMul", [floats(2, 3, 4), floats(2, 5, 4)], 1, {"alpha": 0.5, "transB": 1}),
    "FusedMatMul of batches": (
        "FusedMatMul", [floats(3, 2, 4), floats(2, 4, 5)], 1, {"transBatchA": 1}),
    "Gelu": ("Gelu", [X], 1, {}),
    "BiasGelu": ("BiasGelu", [X, floats(8)], 1, {}),
    "FastGelu": ("FastGelu", [X], 1, {}),
    "FastGelu with a bias": ("FastGelu", [X, floats(8)], 1, {}),
    "QuickGelu": ("QuickGelu", [X], 1, {"alpha": 1.5}),
    "SkipLayerNormalization": ("SkipLayerNormalization", [X, X[::-1].copy(), GAMMA, BETA], 1, {"epsilon": 1e-5}),
    "SkipLayerNormalization with everything": (
        "SkipLayerNormalization", [X, X[::-1].copy(), GAMMA, BETA, floats(8)], 4, {"epsilon": 1e-5}),
    "SkipSimplifiedLayerNormalization": (
        "SkipSimplifiedLayerNormalization", [X, X[::-1].copy(), GAMMA, floats(8)], 4, {"epsilon": 1e-5}),
    "EmbedLayerNormalization": (
        "EmbedLayerNormalization", [IDS, IDS % 2, *EMBEDDINGS, GAMMA, BETA, MASK], 2, {"epsilon": 1e-5}),
    "EmbedLayerNormalization of words alone": (
        "EmbedLayerNormalization", [IDS, None, *EMBEDDINGS[:2], None, GAMMA, BETA], 2, {"epsilon": 1e-5}),
    "Attention": ("Attention", [X, floats(8, 24), floats(24)], 1, {"num_heads": 2}),
    "Attention, causal": ("Attention", [X, floats(8, 24), floats(24)], 1, {"num_heads": 4, "unidirectional": 1}),
    "Attention with a mask": ("Attention", [X, floats(8, 24), floats(24), MASK], 1, {"num_heads": 2}),
    "Attention with lengths": ("Attention", [X, floats(8, 24), floats(24), ints(2, 3)], 1, {"num_heads": 2}),
    "Attention with a past": (
        "Attention", [X, floats(8, 24), floats(24), None, floats(2, 2, 2, 5, 4)], 2,
        {"num_heads": 2, "unidirectional": 1}),
    "Attention with other widths": (
        "Attention", [X, floats(8, 20), floats(20)], 1, {"num_heads": 2, "qkv_hidden_sizes": [8, 8, 4]}),
    "RotaryEmbedding": ("RotaryEmbedding", [X, PLACES, *CACHES], 1, {}),
    "RotaryEmbedding from a place on": ("RotaryEmbedding", [X, np.array([2]), *CACHES], 1, {"interleaved": 1}),
    "RotaryEmbedding of heads": ("RotaryEmbedding", [floats(2, 2, 3, 4), PLACES, *CACHES], 1, {"interleaved": 1}),
    "RotaryEmbedding of a part": (
        "RotaryEmbedding", [floats(2, 3, 16), PLACES, *CACHES], 1, {"num_heads": 2, "rotary_embedding_dim": 4}),
    "MultiHeadAttention": ("MultiHeadAttention", [X, KEY, VALUE], 1, {"num_heads": 2, "scale": 0.3}),
    "Attention with ends and starts": (
        "Attention", [X, floats(8, 24), floats(24), ints(2, 3, 0, 1)], 1, {"num_heads": 2}),
    "DecoderMaskedMultiHeadAttention": (
        "DecoderMaskedMultiHeadAttention",
        [*[floats(2, 1, 8) for _ in range(3)], ints([0, 1, 1, 1], [1, 1, 1, 1]), None, *[floats(2, 2, 6, 4)] * 2,
         ints(3)], 3, {"num_heads": 2, "past_present_share_buffer": 1}),
    "DecoderMaskedMultiHeadAttention with biases": (
        "DecoderMaskedMultiHeadAttention",
        [*[floats(2, 1, 8) for _ in range(3)], None, floats(2, 2, 1, 4), *[floats(2, 2, 6, 4)] * 2, ints(3), None, None,
         floats(24)], 3, {"num_heads": 2, "past_present_share_buffer": 1}),
    "DecoderMaskedMultiHeadAttention to other keys": (
        "DecoderMaskedMultiHeadAttention", [floats(2, 1, 8), floats(2, 2, 5, 4), floats(2, 2, 5, 4)], 1,
        {"num_heads": 2}),
    "MultiHeadAttention of a cache": (
        "MultiHeadAttention", [X, floats(2, 2, 5, 4), floats(2, 2, 5, 4)], 1, {"num_heads": 2}),
    "MultiHeadAttention, causal": (
        "MultiHeadAttention", [X, X.copy(), X.copy()], 1, {"num_heads": 2, "unidirectional": 1}),
    "MultiHeadAttention, causal, to fewer keys": (
        "MultiHeadAttention", [KEY, X, X.copy()], 1, {"num_heads": 2, "unidirectional": 1}),
    "MultiHeadAttention, causal, with a past": (
        "MultiHeadAttention", [X, X.copy(), X.copy(), None, None, None, floats(2, 2, 4, 4), floats(2, 2, 4, 4)], 3,
        {"num_heads": 2, "unidirectional": 1}),
    "MultiHeadAttention with a bias": ("MultiHeadAttention", [X, KEY, VALUE, floats(24)], 1, {"num_heads": 4}),
    "MultiHeadAttention with masks": (
        "MultiHeadAttention", [X, KEY, VALUE, None, ints([1, 1, 1, 0, 0], [1, 1, 1, 1, 1]), floats(2, 2, 3, 5)], 1,
        {"num_heads": 2}),
    "MultiHeadAttention with a past": (
        "MultiHeadAttention", [X, X.copy(), X.copy(), None, None, None, floats(2, 2, 4, 4), floats(2, 2, 4, 4)], 3,
        {"num_heads": 2}),
}  # fmt: skip


def model_of(kind, inputs, outputs, attributes):
    names = ["" if array is None else f"x{index}" for index, array in enumerate(inputs)]
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in zip(names, inputs)
        if name
    ]
    # Of the normalizations' outputs the second and third are left out: ONNX Runtime has them on no processor.
    made = ["y0", "", "", "y3"] if outputs == 4 else [f"y{index}" for index in range(outputs)]
    node = helper.make_node(kind, names, made, domain=DOMAIN, **attributes)
    results = [onnx.ValueInfoProto(name=name) for name in made if name]
    graph = helper.make_graph([node], "graph", infos, results)
    domains = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=domains, ir_version=8)


@pytest.mark.parametrize("from_cache", [False, True])
def test_causal_attention_to_more_keys(from_cache):
    """Query i sees the keys 0 to i. ONNX Runtime leaves the last query unmasked, so that is computed by a formula."""
    keys = [floats(2, 2, 5, 4) if from_cache else floats(2, 5, 8) for _ in range(2)]
    fed = {f"x{index}": array for index, array in enumerate([X, *keys])}
    proto = model_of("MultiHeadAttention", list(fed.values()), 1, {"num_heads": 2, "unidirectional": 1})
    found, expected = run_both(proto, fed)
    query, key, value = (a if a.ndim == 4 else a.reshape(2, -1, 2, 4).transpose(0, 2, 1, 3) for a in fed.values())
    visible = np.arange(5) <= np.arange(3)[:, None]
    powers = np.where(visible, np.exp(query @ key.swapaxes(2, 3) / 2), 0)
    wanted = (powers / powers.sum(axis=3, keepdims=True) @ value).transpose(0, 2, 1, 3).reshape(2, 3, 8)
    np.testing.assert_allclose(found["y0"], wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found["y0"][:, :-1], expected["y0"][:, :-1], rtol=1e-4, atol=1e-5)


def run_both(proto, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    expected = dict(zip(names, session.run(names, inputs)))
    results = hetero.Core().compile_model(proto, "TEMPLATE")(inputs)
    return {name: results[name] for name in names}, expected


@pytest.mark.parametrize("name", CASES)
def test_single_operators(name):
    kind, inputs, outputs, attributes = CASES[name]
    fed = {f"x{index}": array for index, array in enumerate(inputs) if array is not None}
    assert_close(*run_both(model_of(kind, inputs, outputs, attributes), fed), tolerance=1e-4)


@pytest.mark.parametrize("count", [2, 3])
def test_packed_keys_and_values(count):
    """``[B, S, N, count, H]``, which ONNX Runtime's CPU lacks, against separate inputs ``[B, S, N·H]``."""
    packed = floats(2, 3, 2, count, 4)
    apart = [packed[:, :, :, k].reshape(2, 3, 8) for k in range(count)]
    first = [] if count == 3 else [X]
    found = []
    for inputs in ([*first, packed], [*first, *apart]):
        model = model_of("MultiHeadAttention", inputs, 1, {"num_heads": 2})
        found.append(hetero.Core().compile_model(model, "TEMPLATE")(inputs)["y0"])
    np.testing.assert_allclose(*found, rtol=1e-6)


OPTIMIZED = [
    "ocr_detection", "ocr_recognition", "ocr_direction", "magika", "voice_activity", "squeezenet", "shufflenet",
]  # fmt: skip
# The optimizer puts no operator of its own in these.
UNCHANGED = {"magika", "voice_activity"}


@pytest.mark.parametrize("name", OPTIMIZED)
def test_models_optimized_by_onnxruntime(name, tmp_path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    onnxruntime.InferenceSession(str(zoo.path(name)), options, providers=["CPUExecutionProvider"])
    proto = onnx.load(tmp_path / "optimized.onnx")
    assert any(node.domain == DOMAIN for node in proto.graph.node) == (name not in UNCHANGED)
    results = hetero.Core().compile_model(tmp_path / "optimized.onnx", "TEMPLATE")(zoo.inputs(name))
    assert_close({output: results[output] for output in zoo.expected(name)}, zoo.expected(name), tolerance=1e-4)


def test_what_is_not_supported():
    kind, inputs, outputs, attributes = CASES["Attention"]
    with pytest.raises(hetero.HeteroError, match="Attention node 'y0': attribute do_rotary is supported only"):
        hetero.Core().read_model(model_of(kind, inputs, outputs, attributes | {"do_rotary": 1}))
    kind, inputs, outputs, attributes = CASES["FusedConv"]
    with pytest.raises(hetero.HeteroError, match="activation must be one of Relu, Sigmoid, .*, but is Softmax"):
        hetero.Core().read_model(model_of(kind, inputs, outputs, attributes | {"activation": "Softmax"}))
