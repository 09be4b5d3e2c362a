"""GroupQueryAttention against ONNX Runtime: prompts, single tokens, growing caches and caches with spare capacity."""

import numpy as np
import pytest
from onnx import TensorProto, helper

import hetero
from tests.frontend.onnx.compare import assert_close, run_onnxruntime

DOMAIN = "com.microsoft"
HEADS, GROUPS, WIDTH = 4, 2, 16
NAMES = [
    "query", "key", "value", "past_key", "past_value", "seqlens_k", "total_sequence_length", "cos_cache", "sin_cache",
    "position_ids", "attention_bias", "head_sink",
]  # fmt: skip
rng = np.random.default_rng(3)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def inputs(batch, new, past=0, room=0, packed=False):
    """``past`` tokens in a cache for ``room`` more."""
    widths = [HEADS * WIDTH, GROUPS * WIDTH, GROUPS * WIDTH]
    given = dict(zip(NAMES, [floats(batch, new, sum(widths))] if packed else [floats(batch, new, w) for w in widths]))
    given |= {name: floats(batch, GROUPS, past + room, WIDTH) for name in ("past_key", "past_value")}
    total = past + new
    return given | {
        "seqlens_k": np.full(batch, total - 1, np.int32), "total_sequence_length": np.array(total, np.int32)
    }  # fmt: skip


def model_of(given, attributes):
    outputs = ["output", "present_key", "present_value"]
    names = [name if name in given else "" for name in NAMES]
    node = helper.make_node(
        "GroupQueryAttention", names, outputs, domain=DOMAIN, num_heads=HEADS, kv_num_heads=GROUPS, **attributes
    )
    kinds = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in given.items()}
    infos = [helper.make_tensor_value_info(name, kinds[name], array.shape) for name, array in given.items()]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph([node], "graph", infos, results)
    domains = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    model = helper.make_model(graph, opset_imports=domains, ir_version=8)
    return model


def compare(given, tolerance=1e-5, present=None, **attributes):
    """``present``: how much of the caches holds something."""
    model = model_of(given, attributes)
    outputs = [output.name for output in model.graph.output]
    expected = run_onnxruntime(model, given)
    for dynamic in (False, True):
        read = hetero.Core().read_model(model.SerializeToString())
        if dynamic:
            shapes = {name: [-1, *(-1 for _ in array.shape[1:-1]), array.shape[-1]] if array.ndim > 1 else
                      [-1] * array.ndim for name, array in given.items()}  # fmt: skip
            read.reshape({port: shapes[port.any_name] for port in read.inputs})
        found = hetero.Core().compile_model(read, "TEMPLATE")(given)
        found = {name: np.array(found[name]) for name in outputs}
        for arrays in (found, expected):
            arrays |= {name: arrays[name][:, :, :present] for name in outputs[1:]}
        assert_close(found, expected, tolerance)


def rotary():
    return {"cos_cache": floats(16, WIDTH // 2), "sin_cache": floats(16, WIDTH // 2)}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("rotate", [0, 1])
@pytest.mark.parametrize(("batch", "new", "past"), [(1, 5, 0), (2, 5, 0), (2, 1, 4), (1, 3, 4)], ids=str)
def test_caches_that_grow(batch, new, past, rotate, packed):
    given = inputs(batch, new, past, packed=packed) | (rotary() if rotate else {})
    compare(given, do_rotary=rotate)


@pytest.mark.parametrize("interleaved", [0, 1])
def test_a_cache_with_spare_capacity(interleaved):
    compare(inputs(2, 1, 4, 3) | rotary(), present=5, do_rotary=1, rotary_interleaved=interleaved)


def test_sequences_of_different_lengths():
    given = inputs(2, 1, 4) | {"seqlens_k": np.array([4, 2], np.int32)} | rotary()
    compare(given, do_rotary=1, present=3)


@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize(("new", "past"), [(6, 0), (1, 6)])
def test_a_window(new, past, window):
    compare(inputs(1, new, past), local_window_size=window)


@pytest.mark.parametrize("attributes", [{"scale": 0.3}, {"softcap": 0.5}, {"smooth_softmax": 1}], ids=str)
def test_scores(attributes):
    compare(inputs(2, 5), **attributes)


@pytest.mark.parametrize("heads", [1, HEADS])
@pytest.mark.parametrize("attributes", [{}, {"softcap": 0.5}], ids=str)
def test_a_bias(attributes, heads):
    compare(inputs(1, 5) | {"attention_bias": floats(1, heads, 5, 5)}, **attributes)


def test_a_sink():
    compare(inputs(2, 5) | {"head_sink": floats(HEADS)})


def test_what_is_not_supported():
    with pytest.raises(hetero.HeteroError, match="qk_output is supported only with the value 0"):
        hetero.Core().read_model(model_of(inputs(1, 2), {"qk_output": 1}))
