"""StableHLO reshapes, slices and pads, against LiteRT (PAD, DILATE) or numpy."""

import numpy as np
import pytest

from hetero.system.errors import HeteroError
from tests.frontend.tflite.agreement import CORE, EACH_GPU, assert_as_litert, assert_gives
from tests.frontend.tflite.models import constant, feed, model_of, out

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
ROW = np.float32([1, 2, 3])


def numbers(*values):
    return [feed(np.int32(value)) for value in values]


def updated(x, update, *starts):
    result = x.copy()
    result[tuple(slice(start, start + size) for start, size in zip(starts, update.shape))] = update
    return result


# Operator, inputs, options, what it gives.
CASES = {
    "reshape": ("RESHAPE", [feed(X)], {}, X.reshape(4, 6)),
    "reshape to a scalar": ("RESHAPE", [feed(ROW[:1])], {}, ROW[0]),
    "reshape of nothing": ("RESHAPE", [feed(X[:0])], {}, X[:0].reshape(3, 0)),
    "transpose": ("TRANSPOSE", [feed(X)], {"permutation": [2, 0, 1]}, X.transpose(2, 0, 1)),
    "broadcast": (
        "BROADCAST_IN_DIM", [feed(ROW)], {"broadcast_dimensions": [1]}, np.broadcast_to(ROW[:, None], (2, 3, 4))
    ),
    "broadcast a scalar": ("BROADCAST_IN_DIM", [feed(np.float32(3))], {}, np.full((2, 3), np.float32(3))),
    "broadcast in another order": (
        "BROADCAST_IN_DIM", [feed(X[0])], {"broadcast_dimensions": [2, 0]},
        np.broadcast_to(X[0].T[:, None], (4, 2, 3)),
    ),
    "broadcast lengths of 1": (
        "BROADCAST_IN_DIM", [feed(ROW[None])], {"broadcast_dimensions": [0, 1]}, np.broadcast_to(ROW, (5, 3))
    ),
    "concatenate": ("CONCATENATE", [feed(X), feed(X[:, :1])], {"dimension": 1}, np.concatenate([X, X[:, :1]], 1)),
    "slice": (
        "SLICE", [feed(X)], {"start_indices": [0, 1, 0], "limit_indices": [1, 3, 4], "strides": [1, 1, 3]},
        X[:1, 1:3, ::3],
    ),
    "dynamic slice": ("DYNAMIC_SLICE", [feed(X), *numbers(1, 0, 2)], {"slice_sizes": [1, 3, 2]}, X[1:, :, 2:]),
    "dynamic slice moved within": (
        "DYNAMIC_SLICE", [feed(X), *numbers(-3, 2, 3)], {"slice_sizes": [1, 2, 2]}, X[:1, 1:, 2:]
    ),
    "slice at constants": (
        "DYNAMIC_SLICE", [feed(X), *(constant(np.int64(n)) for n in (9, 0, 1))], {"slice_sizes": [1, 2, 2]},
        X[1:, :2, 1:3],
    ),
    "dynamic update of an axis": (
        "DYNAMIC_UPDATE_SLICE", [feed(X), feed(-X[:, :1]), *numbers(7, 2, 1)], {}, updated(X, -X[:, :1], 0, 2, 0)
    ),
    "dynamic update of a part": (
        "DYNAMIC_UPDATE_SLICE", [feed(X), feed(-X[:1, :2, :3]), *numbers(7, 0, -1)], {},
        updated(X, -X[:1, :2, :3], 1, 0, 0),
    ),
    "dynamic update of all": ("DYNAMIC_UPDATE_SLICE", [feed(X), feed(-X), *numbers(1, 1, 1)], {}, -X),
    "update at constants": (
        "DYNAMIC_UPDATE_SLICE", [feed(X), feed(-X[:1, :2]), *(constant(np.int32(n)) for n in (1, 5, 0))], {},
        updated(X, -X[:1, :2], 1, 1, 0),
    ),
    "iota": ("IOTA", [], {"iota_dimension": 1}, np.broadcast_to(np.arange(3, dtype=np.int32)[:, None], (2, 3, 4))),
    "iota of floats": ("IOTA", [], {"iota_dimension": 0}, np.arange(5, dtype=np.float32)),
}  # fmt: skip


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize("name", CASES)
def test_case(name, device):
    kind, inputs, options, expected = CASES[name]
    model = model_of(f"STABLEHLO_{kind}", *inputs, outputs=[out(expected.dtype, expected.shape)], **options)
    assert_gives(model, [expected], device)


PADDINGS = {
    "added": ([1, 0, 2], [0, 3, 1], [0, 0, 0]),
    "cut off": ([-1, 0, 1], [0, -1, -2], [0, 0, 0]),
    "between": ([0, 0, 0], [0, 0, 0], [1, 0, 2]),
    "between, cut off": ([0, -1, 2], [-1, 0, -4], [3, 1, 1]),
}


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize("name", PADDINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64])
def test_pad(name, dtype, device):
    low, high, between = PADDINGS[name]
    filler = constant(np.array(7, dtype))
    model = model_of(
        "STABLEHLO_PAD", feed(X.astype(dtype)), filler,
        edge_padding_low=low, edge_padding_high=high, interior_padding=between,
    )  # fmt: skip
    assert_as_litert(model, device)


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize("factors", [[1, 1, 1], [2, 1, 3], [1, 4, 1]])
def test_dilate(factors, device):
    model = model_of("DILATE", feed(X), constant(np.int32(factors)), constant(np.float32(-1)))
    assert_as_litert(model, device)


def test_pad_of_dimensions_that_change():
    model = model_of(
        "STABLEHLO_PAD", feed(X, signature=(-1, 3, -1)), constant(np.float32(7)),
        edge_padding_low=[0, 1, 1], edge_padding_high=[1, 0, 0], interior_padding=[1, 0, 2],
    )  # fmt: skip
    (name,) = model.inputs
    assert_as_litert(model, calls=[{name: X[:1, :, :2].copy()}])


def test_broadcast_of_a_dimension_that_changes():
    model = model_of(
        "STABLEHLO_BROADCAST_IN_DIM", feed(X[0], signature=(-1, 4)),
        outputs=[out(np.float32, (2, 3, 4), signature=(2, -1, 4))], broadcast_dimensions=[1, 2],
    )  # fmt: skip
    assert_gives(model, [np.broadcast_to(X[0], (2, 3, 4))], "TEMPLATE")


def test_quantized_stays_as_it_is():
    x = np.int8([[1, 2, 3]])
    output = out(np.int8, (3, 1), scale=0.5, zero_point=3)
    model = model_of("STABLEHLO_TRANSPOSE", feed(x, scale=0.5, zero_point=3), outputs=[output], permutation=[1, 0])
    assert_gives(model, [x.T], "TEMPLATE")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (("BROADCAST_IN_DIM", [ROW], (2, 3), {"broadcast_dimensions": [2]}), r"broadcast_dimensions \[2\] do not map"),
        (("DYNAMIC_SLICE", [X, np.int32(0)], (1, 1, 1), {"slice_sizes": [1, 1, 1]}), "1 starts for 3 dimensions"),
        (("IOTA", [], (2,), {"iota_dimension": 1}), r"iota_dimension 1 must be an axis of its shape \[2\]"),
        (("PAD", [X, ROW[0]], (2,), {"edge_padding_low": [1]}), "must have 3 elements each"),
    ],
)
def test_refused(model, message):
    kind, inputs, shape, options = model
    content = model_of(f"STABLEHLO_{kind}", *map(feed, inputs), outputs=[out(np.float32, shape)], **options).content
    with pytest.raises(HeteroError, match=message):
        CORE.read_model(content)
