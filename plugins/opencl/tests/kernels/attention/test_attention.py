"""Attention, compared with OpenVINO, or with TEMPLATE for what OpenVINO lacks."""

from functools import partial

import numpy as np
import pytest
from hetero_opencl.kernels.attention import attention as attention_kernels

from hetero import Parameter, Type, ops
from tests.ops import test_attention
from tests.ops.oracle import Data
from tests.ops.test_attention import NAME, random

# Not a multiple of the vector width; and more than a work-group has work-items.
KEYS = [37, 1100]


inputs = partial(test_attention.inputs, keys=37)


def parameters_of(arrays):
    return [Parameter(Type(array.dtype), array.shape) for array in arrays]


def masks(keys):
    numbers = [random(4, keys), random(2, 1, 4, keys), random(1, keys), random(2, 3, 4, 1)]
    return [None, *numbers, np.arange(4 * keys).reshape(4, keys) % 3 != 1, np.arange(4).reshape(4, 1) != 5]


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("kind", range(7))
def test_masks(openvino_agrees, kind, keys):
    mask = masks(keys)[kind]
    openvino_agrees(NAME, *inputs(keys=keys), None if mask is None else Data(mask))


@pytest.mark.parametrize("batch", [(2,), (2, 3), (2, 1, 3)], ids=str)
@pytest.mark.parametrize("lengths", [(1, 5), (5, 1), (33, 34)], ids=str)
@pytest.mark.parametrize("causal", [False, True])
def test_batches_and_lengths(openvino_agrees, causal, lengths, batch):
    openvino_agrees(NAME, *inputs(batch, lengths[0], keys=lengths[1]), causal=causal)


@pytest.mark.parametrize("scale", [np.float32(0.3), np.float32([2.0])], ids=str)
def test_scale(openvino_agrees, scale):
    openvino_agrees(NAME, *inputs(), Data(random(4, 37)), Data(np.asarray(scale)))


@pytest.mark.parametrize("queries", [1, 4])
def test_keys_that_groups_of_queries_share(openvino_agrees, queries):
    key, value = (Data(random(2, 3, 1, 5, 8, seed=seed)) for seed in (1, 2))
    openvino_agrees(NAME, Data(random(2, 3, 2, queries, 8)), key, value, Data(random(2, 1, 1, 1, 5)))


def test_values_of_another_width(openvino_agrees):
    openvino_agrees(NAME, *inputs()[:2], Data(random(2, 3, 37, 6)))


@pytest.mark.parametrize(
    ("shapes", "more"),
    [
        ([(2, 3, 4), (2, 5, 4), (2, 5, 6)], {"mask": (7, 2, 3, 5)}),
        ([(2, 1, 3, 4), (1, 7, 5, 4), (2, 7, 5, 6)], {"mask": (2, 7, 1, 5)}),
        ([(1, 3, 4), (1, 5, 4), (4, 5, 6)], {"mask": (3, 5)}),
        ([(2, 3, 4), (2, 5, 4), (2, 5, 6)], {"mask": (5,)}),
        ([(2, 3, 4), (2, 5, 4), (2, 5, 6)], {"mask": (), "scale": ()}),
        ([(2, 3, 4), (2, 5, 4), (2, 5, 6)], {"mask": (), "scale": (1,), "sink": (2, 1, 1)}),
        ([(2, 3, 3, 4), (2, 3, 35, 4), (2, 3, 35, 6)], {"mask": (3, 35), "scale": (), "sink": (1, 3, 3, 1)}),
        ([(2, 0, 4), (2, 5, 4), (2, 5, 6)], {}),
        ([(2, 3, 4), (2, 0, 4), (2, 0, 6)], {}),
        ([(0, 3, 4), (0, 5, 4), (0, 5, 6)], {}),
    ],
    ids=str,
)  # fmt: skip
def test_shapes(template_agrees, shapes, more):
    arrays = [random(*shape, seed=index) for index, shape in enumerate([*shapes, *more.values()])]
    arrays = [np.asarray(array, np.float32) for array in arrays]
    parameters = parameters_of(arrays)
    template_agrees(attention(parameters, more), parameters, arrays)


def attention(parameters, more, causal=False):
    names = {"mask": "attention_mask"}
    keywords = {names.get(name, name): parameter for name, parameter in zip(more, parameters[3:])}
    return ops.ScaledDotProductAttention(*parameters[:3], **keywords, causal=causal)


@pytest.mark.parametrize("more", [{}, {"mask": (3, 1, 33, 35)}, {"mask": (33, 35), "scale": (), "sink": (2, 33, 1)}])
@pytest.mark.parametrize("causal", [False, True])
def test_long_sequences_in_parts(template_agrees, monkeypatch, more, causal):
    """Scores are computed in parts: here for four queries at a time."""
    monkeypatch.setattr(attention_kernels, "_MOST_SCORES", 2 * 35 * 4)
    shapes = [(2, 33, 4), (2, 35, 4), (2, 35, 6), *more.values()]
    arrays = [np.asarray(random(*shape, seed=index)) for index, shape in enumerate(shapes)]
    arrays = [array.astype(np.float32) for array in arrays]
    parameters = parameters_of(arrays)
    template_agrees(attention(parameters, more, causal), parameters, arrays)


@pytest.mark.parametrize(("kind", "tolerance"), [(Type.f16, 1e-3), (Type.bf16, 8e-3), (Type.f64, 1e-14)], ids=str)
@pytest.mark.parametrize("queries", [1, 4])
@pytest.mark.parametrize("more", [
    {}, {"mask": (1, 37)}, {"mask": (37,), "scale": (), "sink": (2, 3, 1, 1)},
])  # fmt: skip
def test_types(template_agrees, kind, tolerance, queries, more):
    dtype = kind.to_dtype()
    arrays = [data.array for data in inputs(queries=queries)]
    arrays = [array.astype(dtype) for array in (*arrays, *(np.asarray(random(*shape)) for shape in more.values()))]
    parameters = parameters_of(arrays)
    template_agrees(attention(parameters, more), parameters, arrays, tolerance)


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
@pytest.mark.parametrize("causal", [False, True])
def test_boolean_masks_of_other_types(template_agrees, dtype, causal):
    """A query whose keys are all masked gets zeros."""
    arrays = [*(data.array for data in inputs(dtype=dtype)), np.arange(4 * 37).reshape(4, 37) % 3 != 1]
    arrays[3][2] = False
    parameters = parameters_of(arrays)
    node = ops.ScaledDotProductAttention(*parameters, causal=causal)
    template_agrees(node, parameters, arrays, 1e-3 if dtype is np.float16 else 1e-13)


@pytest.mark.parametrize("queries", [1, 4, 40])
@pytest.mark.parametrize("masked", [np.finfo(np.float32).min, -np.inf], ids=["lowest", "infinite"])
@pytest.mark.parametrize("kind", [ops.ScaledDotProductAttention, ops.SoftmaxAttention])
def test_masked_keys(template_agrees, kind, masked, queries):
    """Masks of most exporters are the lowest number, so that a query whose keys are all masked gets their mean."""
    arrays = [random(2, 3, queries, 8), random(2, 3, 100, 8, seed=1), random(2, 3, 100, 8, seed=2)]
    mask = np.where(np.arange(queries * 100).reshape(queries, 100) % 3 == 1, masked, 0)
    mask[queries // 2] = masked
    arrays = [array.astype(np.float32) for array in (*arrays, mask)]
    parameters = parameters_of(arrays)
    template_agrees(kind(*parameters), parameters, arrays)


@pytest.mark.parametrize("depth, width", [(64, 64), (300, 8), (8, 300), (17, 35)])
@pytest.mark.parametrize("causal", [False, True])
def test_sizes_of_heads(template_agrees, depth, width, causal):
    shapes = [(3, 70, depth), (3, 90, depth), (3, 90, width)]
    arrays = [random(*shape, seed=seed).astype(np.float32) for seed, shape in enumerate(shapes)]
    parameters = parameters_of(arrays)
    template_agrees(ops.ScaledDotProductAttention(*parameters, causal=causal), parameters, arrays)


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
@pytest.mark.parametrize("decays", ["one", "each"])
@pytest.mark.parametrize(("kind", "tolerance"), [(Type.f32, 1e-5), (Type.f16, 4e-3), (Type.f64, 1e-13)], ids=str)
def test_linear_attention(template_agrees, rule, decays, kind, tolerance):
    heads, members, width, value_width = 2, 3, 4, 5
    shapes = [(2, 6, heads * members * width), (2, 6, heads * width), (2, 6, heads * value_width)]
    arrays = [random(*shape) / 2 for shape in (*shapes, (2, heads, width, value_width))]
    if rule.startswith("gated"):
        arrays.append(-np.abs(random(2, 6, heads * (1 if decays == "one" else width))))
    if rule.endswith("delta"):
        arrays.append(1 / (1 + np.exp(random(2, 6, 1 if decays == "one" else heads))))
    arrays = [array.astype(kind.to_dtype()) for array in arrays]
    parameters = parameters_of(arrays)
    node = ops.LinearAttention(*parameters[:4], parameters[4:], heads * members, heads, rule)
    template_agrees(node, parameters, arrays, tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
@pytest.mark.parametrize("width", [3, 8])
@pytest.mark.parametrize("total", [1, 9])
def test_cache_update(template_agrees, dtype, width, total):
    arrays = [random(2, 3, 6, width), random(2, 3, 2, width, seed=1)]
    arrays = [*(array.astype(dtype) for array in arrays), np.array([4, 1], np.int32)]
    parameters = parameters_of(arrays)
    node = ops.CacheUpdate(*parameters, np.array(total, np.int64))
    template_agrees(node, parameters, arrays, 0)
