"""Selection, scatter, sorting and rearrangement of elements, against ONNX Runtime."""

import numpy as np
import pytest
from onnx import helper

from hetero.frontend.onnx import OnnxFrontEnd
from tests.frontend.onnx.compare import assert_close, make_model, run_onnxruntime, run_reference
from tests.frontend.onnx.test_operators import Known, case, ints, model_of, normal, scalar


def picks(low, high, *shape):
    return np.random.default_rng(5).integers(low, high, shape)


X = normal(3, 4, 5)
EQUAL = np.random.default_rng(6).integers(0, 4, (3, 8)).astype(np.float32)
CASES = [
    *[case(op, data, opset=opset, axis=axis, keepdims=keep) for op in ("ArgMax", "ArgMin") for data in (X, EQUAL)
      for opset, axis, keep in ((1, 1, 1), (11, -1, 0), (13, 0, 0))],
    *[case(op, EQUAL, opset=12, axis=axis, select_last_index=1) for op in ("ArgMax", "ArgMin") for axis in (0, -1)],
    case("ArgMax", np.int32([[3, 1, 3], [2, 9, 9]])),
    case("TopK", X, opset=1, outputs=2, k=2, axis=1),
    case("TopK", X, ints(3), opset=10, outputs=2),
    *[case("TopK", data, ints(3), opset=11, outputs=2, axis=1, largest=largest)
      for data in (X, EQUAL, EQUAL.astype(np.int64), EQUAL.astype(np.int32)) for largest in (0, 1)],
    case("TopK", X, ints(3), opset=11, outputs=2, sorted=1, axis=0),
    *[case("Gather", X, indices, opset=opset, axis=axis)
      for opset in (1, 11, 13) for axis in (0, 1, -1) for indices in (picks(0, 3, 2, 2), picks(-3, 3, 4))],
    case("Gather", X, np.array(-1)),
    *[case("GatherElements", X, picks(-3, 3, *shape), axis=axis)
      for shape, axis in (((3, 4, 5), 0), ((3, 7, 5), 1), ((3, 4, 1), -1), ((2, 3, 4), 1), ((1, 2, 9), 2))],
    case("GatherND", X, picks(-3, 3, 2, 2), opset=11),
    case("GatherND", X, picks(0, 3, 3, 2, 1), batch_dims=1),
    case("GatherND", X, picks(0, 3, 3, 4, 1), batch_dims=2),
    case("Scatter", X, picks(0, 3, 2, 2, 2), normal(2, 2, 2), opset=9, axis=-1),
    case("ScatterElements", X, np.int64([[[-1, 0, 1]]]), normal(1, 1, 3), opset=11, axis=2),
    *[case("ScatterElements", data, picks(-3, 3, 3, 4, 6), (normal(3, 4, 6) * 5).astype(data.dtype), opset=18,
           axis=axis, reduction=how) for how in ("add", "mul", "max", "min")
      for axis, data in ((2, X), (-1, (X * 5).astype(np.int32)))],
    case("ScatterND", X, np.int64([[2, 0], [-1, -1]]), normal(2, 5), opset=11),
    *[case("ScatterND", X, picks(0, 3, 6, 2), normal(6, 5), opset=18, reduction=how)
      for how in ("add", "mul", "max", "min")],
    *[
        case("OneHot", np.int64([[0, 2], [-1, 7]]), scalar(3, np.int64), Known(np.float32([-1, 5])),
             opset=opset, axis=axis)
        for opset in (9, 11) for axis in (0, 1, -1)
    ],
    case("OneHot", np.float32([0, 2]), scalar([3], np.float32), Known(np.float32([0, 5]))),
    *[case("Unique", data, opset=11, outputs=4, sorted=order)
      for order in (0, 1) for data in (EQUAL, EQUAL.astype(np.int64))],
    case("Unique", EQUAL.T % 2, opset=11, outputs=4, axis=0),
    *[case("ReverseSequence", normal(4, 3, 2), np.int64([1, 4, 2]), opset=10),
      case("ReverseSequence", normal(3, 4, 2), np.int64([1, 4, 2]), opset=10, batch_axis=0, time_axis=1)],
    case("Compress", X, np.array([True, False, True]), opset=9),
    *[case("Compress", X, np.array([False, True, True]), opset=11, axis=axis) for axis in (0, 1, -1)],
    case("MaxUnpool", normal(1, 1, 2, 2), np.int64([[[[5, 7], [13, 15]]]]), opset=11,
         kernel_shape=[2, 2], strides=[2, 2]),
    case("MaxUnpool", normal(1, 2, 3), np.int64([[[0, 3, 4], [7, 9, 10]]]), opset=11,
         kernel_shape=[3], strides=[2], pads=[1, 0]),
    case("Slice", X, opset=1, starts=[0, -2], ends=[99, -1], axes=[0, 2]),
    case("Slice", X, ints(-1, 1), ints(-99, 3), ints(1, -1), ints(-2, 1), opset=10),
    case("Slice", X, np.int64([-1, 1]), np.int64([-99, 3]), np.int64([1, -1]), np.int64([-2, 1])),
    case("Slice", X, np.int64([3]), np.int64([1])),
    case("Split", X, opset=2, outputs=2, axis=1),
    case("Split", X, opset=2, outputs=2, axis=-1, split=[3, 2]),
    case("Split", X, ints(1, 0, 3), outputs=3, axis=1),
    case("Split", X, opset=18, outputs=2, axis=2, num_outputs=2),
    case("Expand", normal(3, 1), np.int64([2, 1, 4]), opset=8),
    case("Tile", normal(3, 2), np.int64([2, 3]), opset=6),
    case("Where", np.array([[True], [False], [True]]), normal(3, 4), normal(4), opset=9),
    case("DepthToSpace", normal(1, 8, 2, 3), opset=1, blocksize=2),
    case("SpaceToDepth", normal(1, 2, 4, 6), opset=1, blocksize=2),
]  # fmt: skip


OLD = [
    (case("Concat", X, X, opset=1), np.concatenate([X, X], 1)),
    (case("Split", X, scalar([1, 3]), opset=1, outputs=2, axis=1), (X[:, :1], X[:, 1:])),
    (case("Split", X, opset=1, outputs=2, axis=-1, split=[2, 3]), (X[..., :2], X[..., 2:])),
    (case("Tile", X, scalar(2.0), scalar(1.0), opset=1), np.tile(X, (1, 2, 1))),
    (case("Upsample", X[None], opset=1, height_scale=2.0, width_scale=1.0), np.repeat(X[None], 2, 2)),
]


@pytest.mark.parametrize(("item", "expected"), OLD, ids=str)
def test_versions_that_onnxruntime_does_not_have(item, expected):
    proto, inputs = model_of(item, dynamic=False)
    found = run_reference(OnnxFrontEnd().convert(proto.SerializeToString()), inputs)
    for ours, wanted in zip(found.values(), expected if isinstance(expected, tuple) else [expected], strict=True):
        np.testing.assert_array_equal(ours, wanted)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("item", CASES, ids=str)
def test_like_onnxruntime(item, dynamic):
    proto, inputs = model_of(item, dynamic)
    model = OnnxFrontEnd().convert(proto.SerializeToString())
    assert_close(run_reference(model, inputs), run_onnxruntime(proto, inputs))


@pytest.mark.parametrize(
    "item",
    [
        case("Slice", X, np.int64([1, 0]), np.int64([3, 2])),
        case("Slice", X, np.int64([1]), np.int64([3]), np.int64([2])),
        case("Split", X, np.int64([1, 3]), outputs=2, axis=1),
        case("Col2Im", normal(1, 8, 9), np.int64([4, 4]), np.int64([2, 2]), opset=18),
    ],
    ids=str,
)
def test_a_dynamic_number_of_axes(item):
    proto, inputs = model_of(item, dynamic=False)
    expected = run_onnxruntime(proto, inputs)
    for value in proto.graph.input:
        value.type.tensor_type.shape.dim[0].dim_param = f"{value.name}_0"
    model = OnnxFrontEnd().convert(proto.SerializeToString())
    assert_close(run_reference(model, inputs), expected)


def test_elements_of_data_of_unknown_rank():
    node = helper.make_node("GatherElements", ["x", "i"], ["y"], axis=-1)
    fed = {"x": X, "i": picks(-3, 3, 3, 4, 2)}
    expected = run_onnxruntime(make_model([node], fed), fed)
    model = OnnxFrontEnd().convert(make_model([node], fed, shapes={"x": None}))
    assert_close(run_reference(model, fed), expected)
