"""Attention of ONNX, against ONNX Runtime, or against ONNX's reference evaluator where ONNX Runtime lacks a feature."""

import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

import hetero
from tests.frontend.onnx.compare import assert_close, make_model, run_onnxruntime

NAMES = ["q", "k", "v", "mask", "past_key", "past_value", "ends"]
OUTPUTS = ["y", "present_key", "present_value", "scores"]
HEADS, GROUPS, WIDTH = 4, 2, 8
rng = np.random.default_rng(5)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def inputs(queries=3, keys=5, groups=HEADS, past=0):
    given = {"q": floats(2, HEADS, queries, WIDTH)} | {name: floats(2, groups, keys, WIDTH) for name in "kv"}
    return given | ({f"past_{name}": floats(2, groups, past, WIDTH) for name in ("key", "value")} if past else {})


def compare(given, opset=23, outputs=1, oracle=run_onnxruntime, **attributes):
    """Static and dynamic shapes; the number of heads and the head size are always static."""
    names, made = [name if name in given else "" for name in NAMES], OUTPUTS[:outputs]
    while not names[-1]:
        names.pop()
    node = helper.make_node("Attention", names, made, **attributes)
    model = make_model([node], given, made, opset=opset)
    expected = oracle(model, given)
    for dynamic in (False, True):
        read = hetero.Core().read_model(model.SerializeToString())
        if dynamic:
            read.reshape({port: open_shape(name, given[name]) for port, name in zip(read.inputs, given)})
        results = hetero.Core().compile_model(read, "TEMPLATE")(given)
        assert_close({name: np.array(results[name]) for name in made}, expected, 1e-5)


def open_shape(name, array):
    if array.ndim == 4 and name not in ("mask",):
        return [-1, array.shape[1], -1, array.shape[3]]
    return [-1] * (array.ndim - 1) + [array.shape[-1] if array.ndim == 3 and name in "qkv" else -1]


def by_reference(model, given):
    names = [output.name for output in model.graph.output]
    return dict(zip(names, ReferenceEvaluator(model).run(names, given)))


MASKS = {
    "of numbers": floats(3, 5), "of truth values": np.arange(15).reshape(3, 5) % 4 != 1,
    "of heads": floats(1, HEADS, 3, 5), "of batches": floats(2, 1, 3, 5), "of all": floats(2, HEADS, 3, 5),
}  # fmt: skip


@pytest.mark.parametrize("groups", [HEADS, GROUPS, 1])
@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("mask", [None, *MASKS])
def test_masks(mask, causal, groups):
    compare(inputs(groups=groups) | ({"mask": MASKS[mask]} if mask else {}), is_causal=causal)


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("groups", [HEADS, GROUPS])
def test_a_past(groups, causal):
    compare(inputs(past=4, keys=3, groups=groups), outputs=3, is_causal=causal)


@pytest.mark.parametrize("attributes", [{"scale": 0.3}, {"softcap": 0.5}, {"softcap": 0.5, "is_causal": 1}], ids=str)
@pytest.mark.parametrize("groups", [HEADS, GROUPS])
def test_scores(groups, attributes):
    compare(inputs(groups=groups), **attributes)


@pytest.mark.parametrize(("mode", "cap"), [(0, 0.0), (1, 0.0), (1, 0.5), (2, 0.0), (2, 0.5), (3, 0.0), (3, 0.5)])
@pytest.mark.parametrize("groups", [HEADS, GROUPS])
def test_scores_as_output(groups, mode, cap):
    given = inputs(groups=groups) | {"mask": MASKS["of heads"]}
    compare(given, 25, 4, by_reference, qk_matmul_output_mode=mode, softcap=cap)


def test_raw_scores_as_output_with_softcap():
    """They are not capped, as in ONNX's specification and function; its evaluator returns capped ones."""
    given = inputs()
    node = helper.make_node("Attention", list(given), OUTPUTS, softcap=0.5)
    model = make_model([node], given, OUTPUTS, opset=25)
    scores = hetero.Core().compile_model(model, "TEMPLATE")(given)["scores"]
    expected = given["q"] @ given["k"].swapaxes(-1, -2) / np.sqrt(WIDTH)
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("groups", [HEADS, GROUPS])
@pytest.mark.parametrize("causal", [0, 1])
def test_heads_in_one_axis(causal, groups):
    given = {"q": floats(2, 3, HEADS * WIDTH)} | {name: floats(2, 5, groups * WIDTH) for name in "kv"}
    compare(given, q_num_heads=HEADS, kv_num_heads=groups, is_causal=causal)


@pytest.mark.parametrize("causal", [0, 1])
def test_sequence_lengths(causal):
    given = inputs(groups=GROUPS) | {"ends": np.array([4, 5])}
    compare(given, 24, oracle=by_reference, is_causal=causal)


@pytest.mark.parametrize("windows", [(1, 0), (2, -1), (-1, 1)], ids=str)
@pytest.mark.parametrize("past", [0, 4])
@pytest.mark.parametrize("mask", [False, True])
def test_windows(mask, past, windows):
    given = inputs(groups=GROUPS, past=past) | ({"mask": floats(3, 5 + past)} if mask else {})
    left, right = windows
    compare(given, 25, 1, by_reference, left_window_size=left, right_window_size=right)


@pytest.mark.parametrize("mask", [floats(3, 4), np.ones((3, 4), bool)], ids=["numbers", "truth values"])
@pytest.mark.parametrize("cap", [0.0, 0.5])
def test_a_mask_for_fewer_keys(cap, mask):
    compare(inputs() | {"mask": mask}, 25, 1, by_reference, softcap=cap)


@pytest.mark.parametrize("cap", [0.0, 0.5])
def test_a_query_without_visible_keys(cap):
    mask = np.ones((3, 5), bool)
    mask[1] = False
    compare(inputs() | {"mask": mask}, 25, 1, by_reference, softcap=cap)


def test_head_counts_that_do_not_match():
    node = helper.make_node("Attention", ["q", "k", "v"], ["y"])
    given = {"q": floats(2, 3, 3, WIDTH)} | {name: floats(2, 2, 5, WIDTH) for name in "kv"}
    with pytest.raises(hetero.HeteroError, match="3 query heads are not a multiple of 2 key heads"):
        hetero.Core().read_model(make_model([node], given, ["y"], opset=23).SerializeToString())


def linear_attention(rule, decay, beta, groups=GROUPS, past=True, time=4, **attributes):
    """``decay`` and ``beta`` are how many numbers each step of a sequence has of these."""
    widths = {"q": HEADS * WIDTH, "k": groups * WIDTH, "v": groups * 3}
    given = {name: floats(2, time, width) for name, width in widths.items()}
    given |= {"past": floats(2, groups, WIDTH, 3)} if past else {}
    given |= {"decay": -np.abs(floats(2, time, decay))} if decay else {}
    given |= {"beta": np.abs(floats(2, time, beta)) / 9} if beta else {}
    names = [name if name in given else "" for name in ("q", "k", "v", "past", "decay", "beta")]
    heads = {"q_num_heads": HEADS, "kv_num_heads": groups}
    node = helper.make_node("LinearAttention", names, ["y", "present"], update_rule=rule, **heads, **attributes)
    return make_model([node], given, ["y", "present"], opset=27), given


@pytest.mark.parametrize("past", [False, True])
@pytest.mark.parametrize("groups", [HEADS, GROUPS])
@pytest.mark.parametrize(
    ("rule", "decay", "beta"),
    [("linear", 0, 0), ("gated", 1, 0), ("gated", WIDTH, 0), ("delta", 0, 1), ("gated_delta", 1, 1)],
)
def test_linear_attention(rule, decay, beta, groups, past):
    model, given = linear_attention(rule, decay * groups, beta * groups, groups, past, scale=0.3)
    expected = by_reference(model, given)
    for shapes in (None, {name: [-1, -1, array.shape[2]] for name, array in given.items() if array.ndim == 3}):
        read = hetero.Core().read_model(model.SerializeToString())
        if shapes:
            read.reshape({port: shapes.get(port.any_name, port.partial_shape) for port in read.inputs})
        results = hetero.Core().compile_model(read, "TEMPLATE")(given)
        assert_close({name: np.array(results[name]) for name in expected}, expected, 1e-5)


def test_linear_attention_without_steps():
    model, given = linear_attention("gated_delta", GROUPS, 1, time=0)
    results = hetero.Core().compile_model(model, "TEMPLATE")(given)
    assert results["y"].shape == (2, 0, HEADS * 3)
    np.testing.assert_array_equal(results["present"], given["past"])


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("needs 2 gates, but there are 1", ("gated_delta", GROUPS, 0)),
        ("the number of query heads, 4, must be a multiple of that of keys, 3", ("linear", 0, 0, 3)),
    ],
)
def test_linear_attention_with_wrong_shapes(message, arguments):
    with pytest.raises(hetero.HeteroError, match=message):
        hetero.Core().read_model(linear_attention(*arguments)[0])
