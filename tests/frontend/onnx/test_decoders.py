"""Decoders of unknown batch and length, as torch.onnx.export(dynamo=True, opset_version=23) writes them.

The shape of heads is a Concat of lengths of the input, -1 and the head size.
"""

import numpy as np
import onnx.parser
import pytest
from onnx import numpy_helper

import hetero
from tests.devices import GPUS
from tests.frontend.onnx.compare import assert_close, run_onnxruntime

HEADS, GROUPS, WIDTH, LAYERS, WORDS, PLACES = 4, 2, 16, 2, 50, 12
DEVICES = ["TEMPLATE", GPUS[0], f"HETERO:{GPUS[0]},TEMPLATE"]
SIZES = [(1, 1, 7), (3, 6, 2)]  # batch, new tokens, tokens in the cache

BEGIN = """
    batch = Shape <start = 0, end = 1> (ids)
    time = Shape <start = 1, end = 2> (ids)
    heads = Concat <axis = 0> (batch, time, open, width)
    joined = Concat <axis = 0> (batch, time, open)
    x0 = Gather (words, ids)
"""
LAYER = """
    norm{i} = RMSNormalization <axis = -1> (x{i}, scale)
    flat_q{i} = MatMul (norm{i}, wq)
    flat_k{i} = MatMul (norm{i}, wk)
    flat_v{i} = MatMul (norm{i}, wv)
    rows_q{i} = Reshape <allowzero = {allowzero}> (flat_q{i}, heads)
    rows_k{i} = Reshape <allowzero = {allowzero}> (flat_k{i}, heads)
    rows_v{i} = Reshape <allowzero = {allowzero}> (flat_v{i}, heads)
    q{i} = Transpose <perm = [0, 2, 1, 3]> (rows_q{i})
    k{i} = Transpose <perm = [0, 2, 1, 3]> (rows_k{i})
    v{i} = Transpose <perm = [0, 2, 1, 3]> (rows_v{i})
    turned_q{i} = RotaryEmbedding <num_heads = {heads}> (q{i}, cos, sin, places)
    turned_k{i} = RotaryEmbedding <num_heads = {groups}> (k{i}, cos, sin, places)
    y{i}{present} = Attention <is_causal = 1> (turned_q{i}, turned_k{i}, v{i}{past})
    rows_y{i} = Transpose <perm = [0, 2, 1, 3]> (y{i})
    flat_y{i} = Reshape <allowzero = {allowzero}> (rows_y{i}, joined)
    out{i} = MatMul (flat_y{i}, wo)
    x{next} = Add (x{i}, out{i})
"""


def decoder(cache: bool = False, allowzero: int = 1) -> onnx.ModelProto:
    body, inputs, outputs = BEGIN, "int64[b, s] ids, int64[b, s] places", f"float[b, s, {HEADS * WIDTH}] x{LAYERS}"
    for i in range(LAYERS):
        past, present = (f", {name}_k{i}, {name}_v{i}" if cache else "" for name in ("past", "present"))
        past = f", {past}" if cache else ""
        body += LAYER.format(
            i=i, next=i + 1, allowzero=allowzero, heads=HEADS, groups=GROUPS, past=past, present=present
        )
        for part in "kv" if cache else "":
            inputs += f", float[b, {GROUPS}, p, {WIDTH}] past_{part}{i}"
            outputs += f", float[b, {GROUPS}, t, {WIDTH}] present_{part}{i}"
    proto = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 23]> g ({inputs}) => ({outputs}) {{ {body} }}'
    )
    rng = np.random.default_rng(3)
    all_heads, shared = HEADS * WIDTH, GROUPS * WIDTH
    shapes = {
        "words": (WORDS, all_heads), "scale": (all_heads,), "wq": (all_heads, all_heads), "wk": (all_heads, shared),
        "wv": (all_heads, shared), "wo": (all_heads, all_heads),
        "cos": (PLACES, WIDTH // 2), "sin": (PLACES, WIDTH // 2),
    }  # fmt: skip
    weights = {name: rng.standard_normal(shape).astype(np.float32) / 4 for name, shape in shapes.items()}
    weights |= {"open": np.int64([-1]), "width": np.int64([WIDTH])}
    proto.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in weights.items())
    return proto


def inputs_of(proto: onnx.ModelProto, batch: int, time: int, past: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(4)
    given = {
        "ids": rng.integers(0, WORDS, (batch, time)),
        "places": np.tile(np.arange(past, past + time), (batch, 1)),
    }
    names = [info.name for info in proto.graph.input[2:]]
    return given | {name: rng.standard_normal((batch, GROUPS, past, WIDTH)).astype(np.float32) for name in names}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("cache", [False, True], ids=["all at once", "with a cache"])
def test_decoders(cache, device):
    proto = decoder(cache)
    compiled = hetero.Core().compile_model(proto, device)
    for sizes in SIZES:
        given = inputs_of(proto, *sizes)
        results = compiled(given)
        assert_close({port.any_name: results[port] for port in compiled.outputs}, run_onnxruntime(proto, given))


@pytest.mark.parametrize("allowzero", [0, 1])
def test_the_number_of_heads_is_inferred(allowzero):
    model = hetero.Core().read_model(decoder(allowzero=allowzero))
    shapes = {
        name: output.partial_shape for node in model.get_ops() for output in node.outputs() for name in output.names
    }
    found = [str(shapes[name]) for name in ("q0", "k0", "v0")]
    assert found == ["[?,4,?,16]", "[?,2,?,16]", "[?,2,?,16]"]


def test_the_number_of_heads_from_rotary_embedding():
    text = """(float[b, n, s, 16] x, float[12, 8] cos, float[12, 8] sin, int64[b, s] places) => (y) {
        turned = RotaryEmbedding <num_heads = 4> (x, cos, sin, places)
        y = Attention (turned, turned, turned)
    }"""
    proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 23]> g {text}')
    compiled = hetero.Core().compile_model(proto, "TEMPLATE")
    rng = np.random.default_rng(4)
    given = {name: rng.standard_normal((PLACES, WIDTH // 2)).astype(np.float32) for name in ("cos", "sin")}
    for batch, heads, time in ((1, 4, 3), (2, 4, 5), (2, 8, 3)):
        given["x"] = rng.standard_normal((batch, heads, time, WIDTH)).astype(np.float32)
        given["places"] = rng.integers(0, PLACES, (batch, time))
        if heads != 4:
            with pytest.raises(hetero.HeteroError, match="Reshape"):
                compiled(given)
        else:
            assert_close({"y": compiled(given)[0]}, run_onnxruntime(proto, given))
