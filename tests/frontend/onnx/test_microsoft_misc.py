"""Other operators of com.microsoft, against ONNX Runtime if its CPU supports them, else against formulas."""

import math

import numpy as np
import pytest

import hetero
from tests.frontend.onnx.compare import assert_close
from tests.frontend.onnx.test_microsoft_fused import floats, ints, model_of, run_both

X = floats(2, 3, 8)
GATE = np.abs(floats(2, 3, 2))
GRID = np.tanh(floats(1, 3, 2, 2))

# The operator, its inputs, how many outputs it has, and its attributes
CASES = [
    ("GatherND", [X, np.array([[0, 1], [1, 2]])], 1, {}),
    ("GridSample", [floats(1, 2, 4, 5), GRID], 1, {"mode": "bilinear", "padding_mode": "border"}),
    ("Pad", [X, np.array([0, 1, 0, 1, 0, 2])], 1, {}),
    ("Pad", [X, np.array([0, 1, 0, 1, 0, 2]), np.float32([3])], 1, {"mode": "constant"}),
    ("Trilu", [X], 1, {}),
    ("Trilu", [X, np.array(1)], 1, {"upper": 0}),
    ("Inverse", [floats(2, 3, 3)], 1, {}),
    ("ExpandDims", [X, np.array(-1, np.int32)], 1, {}),
    ("Range", [np.float32(1), np.float32([4]), np.float32(0.5)], 1, {}),
    ("Range", [np.int64(1), np.int64(4)], 1, {}),
    ("Unique", [np.float32([2, 1, 1, 3, 4, 3])], 3, {}),
    ("CDist", [floats(4, 8), floats(5, 8)], 1, {"metric": "euclidean"}),
    ("CDist", [floats(4, 8), floats(5, 8)], 1, {"metric": "sqeuclidean"}),
    ("CausalConvWithState", [floats(2, 3, 5), floats(3, 1, 4), floats(3), floats(2, 3, 3)], 2, {"activation": "silu"}),
    ("CausalConvWithState", [floats(2, 3, 5), floats(3, 1, 4)], 2, {}),
    ("CausalConvWithState", [floats(2, 3, 1), floats(3, 1, 4), floats(3), floats(2, 3, 6)], 2, {"dilation": 2}),
    ("LinearAttention", [floats(2, 3, 16), *[floats(2, 3, 8)] * 2, floats(2, 2, 4, 4), -GATE, GATE / 9], 2,
     {"q_num_heads": 4, "kv_num_heads": 2, "update_rule": "gated_delta"}),
    ("NhwcMaxPool", [ints(*range(2 * 6 * 5 * 3)).reshape(2, 6, 5, 3).astype(np.uint8)], 1,
     {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 0, 1]}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}({case[3]})")
def test_like_onnxruntime(case):
    kind, inputs, outputs, attributes = case
    fed = {f"x{index}": np.asarray(array) for index, array in enumerate(inputs)}
    assert_close(*run_both(model_of(kind, list(fed.values()), outputs, attributes), fed), tolerance=1e-5)


def gelu(x, tanh=False):
    if tanh:
        return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def softmax(x):
    weights = np.exp(x - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def relative_position_bias(table, length, furthest, both_ways):
    """Compute the bias element by element as T5 defines it."""
    result = np.zeros((1, table.shape[1], length, length), np.float32)
    for query, key in np.ndindex(length, length):
        buckets, bucket, distance = len(table), 0, query - key
        if both_ways:
            buckets //= 2
            bucket, distance = buckets * (key > query), abs(distance)
        distance, exact = max(distance, 0), buckets // 2
        if distance >= exact:
            steps = math.log(distance / exact) / math.log(furthest / exact) * (buckets - exact)
            distance = min(exact + int(steps + 1e-6), buckets - 1)
        result[0, :, query, key] = table[bucket + distance]
    return result


def group_norm(x, gamma, beta, groups, silu):
    """Max pooling of channels-last data."""
    parts = x.reshape(x.shape[0], -1, groups, x.shape[-1] // groups)
    parts = parts - parts.mean((1, 3), keepdims=True)
    result = (parts / np.sqrt(np.square(parts).mean((1, 3), keepdims=True) + 1e-5)).reshape(x.shape) * gamma + beta
    return result / (1 + np.exp(-result)) if silu else result


IMAGE, WEIGHTS, SKIP = floats(2, 4, 3, 8), [floats(8), floats(8)], floats(2, 8)
SUM = IMAGE + SKIP[:, None, None] + WEIGHTS[0]
W, BIAS, BAD = floats(8, 4), floats(8), np.float32([1, np.nan, np.inf])

# By their formulas, since no CPU has them. The last item are the outputs.
FORMULAS = [
    ("Rfft", [X], {"signal_ndim": 1, "onesided": 1, "normalized": 0},
     [np.stack([np.fft.rfft(X).real, np.fft.rfft(X).imag], -1)]),
    ("Irfft", [np.stack([np.fft.rfft(X).real, np.fft.rfft(X).imag], -1).astype(np.float32)],
     {"signal_ndim": 1, "onesided": 1, "normalized": 0}, [X]),
    ("GemmFastGelu", [X, W], {}, [gelu(X @ W, True)]),
    ("FusedMatMulActivation", [X, W.T.copy()], {"transB": 1, "alpha": 0.5, "activation": "Relu"},
     [np.maximum(X @ W / 2, 0)]),
    ("BiasSplitGelu", [X, BIAS], {}, [(X + BIAS)[..., :4] * gelu((X + BIAS)[..., 4:])]),
    ("BiasAdd", [X, BIAS, X[::-1].copy()], {}, [X + BIAS + X[::-1]]),
    ("GroupNorm", [IMAGE, *WEIGHTS], {"groups": 2, "activation": 1}, [group_norm(IMAGE, *WEIGHTS, 2, True)]),
    ("GroupNorm", [IMAGE.transpose(0, 3, 1, 2).copy(), *WEIGHTS], {"groups": 4, "activation": 0, "channels_last": 0},
     [group_norm(IMAGE, *WEIGHTS, 4, False).transpose(0, 3, 1, 2)]),
    ("SkipGroupNorm", [IMAGE, *WEIGHTS, SKIP, WEIGHTS[0]], {"groups": 2, "activation": 0},
     [group_norm(SUM, *WEIGHTS, 2, False), SUM]),
    ("BiasSoftmax", [X, BIAS], {"axis": 2}, [softmax(X + BIAS)]),
    ("BiasDropout", [X, BIAS, X[::-1].copy()], {}, [X + BIAS + X[::-1], np.ones(X.shape, bool)]),
    *[("RelativePositionBias", [W, np.array([21]), np.array([21])],
       {"max_distance": 17, "is_bidirectional": int(both_ways)}, [relative_position_bias(W, 21, 17, both_ways)])
      for both_ways in (False, True)],
    ("TorchEmbedding", [W, np.array([[1, 3], [0, 7]])], {}, [W[[[1, 3], [0, 7]]]]),
    ("IsAllFinite", [X, BAD], {}, [np.array(False)]),
    ("IsAllFinite", [X, BIAS], {}, [np.array(True)]),
    ("IsAllFinite", [X, BAD[2:]], {"isnan_only": 1}, [np.array(True)]),
    ("IsAllFinite", [X, BAD[:2]], {"isinf_only": 1}, [np.array(True)]),
    ("ScaledSiLU", [X], {"alpha": 0.5}, [X / 2 / (1 + np.exp(-X / 2))]),
    ("GatedAdd", [X, X[::-1].copy(), X[..., :1].copy()], {}, [X + X[::-1] * X[..., :1]]),
]  # fmt: skip


@pytest.mark.parametrize("case", FORMULAS, ids=lambda case: f"{case[0]}({case[2]})")
def test_formulas(case):
    kind, inputs, attributes, expected = case
    model = model_of(kind, inputs, len(expected), attributes)
    results = hetero.Core().compile_model(model, "TEMPLATE")([*inputs])
    found = {f"y{index}": results[f"y{index}"] for index in range(len(expected))}
    wanted = {f"y{k}": array.astype(bool if array.dtype == bool else np.float32) for k, array in enumerate(expected)}
    assert_close(found, wanted, tolerance=1e-5)


@pytest.mark.parametrize(
    ("message", "kind", "inputs", "attributes"),
    [
        ("the metric cosine is not supported", "CDist", [W, W], {"metric": "cosine"}),
        ("attribute normalized is supported only", "Rfft", [X], {"normalized": 1}),
        (
            "channels_last is supported only with the value 0",
            "CausalConvWithState",
            [X, floats(3, 1, 2)],
            {"channels_last": 1},
        ),
        ("activation must be none", "CausalConvWithState", [X, floats(3, 1, 2)], {"activation": "relu"}),
        ("several axes", "BiasSoftmax", [X, floats(1, 3, 8)], {"axis": 1, "is_inner_broadcast": 0}),
    ],
)
def test_what_is_not_supported(message, kind, inputs, attributes):
    with pytest.raises(hetero.HeteroError, match=message):
        hetero.Core().read_model(model_of(kind, inputs, 1, attributes))
