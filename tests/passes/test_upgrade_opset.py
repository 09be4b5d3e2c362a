"""Older versions of operations are replaced by the newest, with the same name, shapes and results."""

import numpy as np
import pytest

from hetero import Core, Model, PartialShape, Type, ops
from hetero.passes import PassManager, upgrade_opset
from hetero.reference import evaluate

DATA = np.random.default_rng(3).uniform(0.5, 2, (1, 3, 4, 4)).astype(np.float32)
VECTOR = np.float32([1, 2, 3])
AXES = np.int64([0])
NUMBER = np.array(2, np.int64)

OLD = [
    (lambda x: ops.BatchNormInferenceV1(x, VECTOR, VECTOR, VECTOR, VECTOR, 1e-5), ops.BatchNormInference),
    (lambda x: ops.BroadcastV1(x, np.int64([2, 3, 4, 4])), ops.Broadcast),
    (lambda x: ops.BroadcastV1(x, np.int64([2, 1, 3, 4, 4]), np.int64([1, 2, 3, 4]), "EXPLICIT"), ops.Broadcast),
    (lambda x: ops.GatherV1(x, AXES, NUMBER), ops.Gather),
    (lambda x: ops.GatherV7(x, AXES, NUMBER), ops.Gather),
    (lambda x: ops.GeluV2(x), ops.Gelu),
    (lambda x: ops.MVNV2(x, False, True, 1e-5), ops.MVN),
    (lambda x: ops.PadV1(x, np.int64([0, 1, 0, 0]), np.int64([0, 0, 2, 0]), "constant", np.float32(5)), ops.Pad),
    (lambda x: ops.ScatterElementsUpdateV3(x, np.zeros_like(DATA, np.int64), x, NUMBER), ops.ScatterElementsUpdate),
    (lambda x: ops.ScatterNDUpdateV4(x, np.int64([[0]]), DATA + 1), ops.ScatterNDUpdate),
    (lambda x: ops.ShapeOfV1(x), ops.ShapeOf),
    (lambda x: ops.SoftmaxV1(x, 2), ops.Softmax),
    (lambda x: ops.SqueezeV1(x, AXES), ops.Squeeze),
    (lambda x: ops.TopKV1(x, NUMBER, 3, "max", "value"), ops.TopK),
    (lambda x: ops.TopKV3(x, NUMBER, 3, "max", "value", "i64"), ops.TopK),
]


def results(node, data):
    sources = [value.node for value in node.input_values()]
    return evaluate(node, [data if isinstance(source, ops.Parameter) else source.data for source in sources])


@pytest.mark.parametrize(("make", "newest"), OLD)
def test_newest(make, newest):
    parameter = ops.Parameter(Type.f32, DATA.shape)
    old = make(parameter)
    old.friendly_name = "node"
    expected = results(old, DATA)
    model = Model(list(old.outputs()), [parameter])
    assert PassManager([upgrade_opset]).run(model) == ["upgrade_opset"]
    found = model.results[0].input_value(0).node
    assert (type(found), found.friendly_name) == (newest, "node")
    for output, wanted, array in zip(found.outputs(), expected, results(found, DATA), strict=True):
        np.testing.assert_array_equal(array, wanted)
        assert output.partial_shape.compatible(wanted.shape)
        assert array.dtype == wanted.dtype
    assert not upgrade_opset(model)


def test_one_hot_and_range():
    indices = ops.Parameter(Type.i64, [3])
    hot = ops.OneHotV1(indices, NUMBER, np.float32(1), np.float32(0), -1)
    numbers = ops.RangeV1(NUMBER * 0, NUMBER, NUMBER - 1)
    model = Model([hot, numbers], [indices])
    assert upgrade_opset(model)
    assert [type(result.input_value(0).node) for result in model.results] == [ops.OneHot, ops.Range]
    assert model.output(1).element_type is Type.i64


def test_mvn_of_unknown_rank_stays():
    parameter = ops.Parameter(Type.f32, PartialShape.dynamic())
    assert not upgrade_opset(Model([ops.MVNV2(parameter)], [parameter]))


def test_a_device_runs_old_versions():
    parameter = ops.Parameter(Type.f32, DATA.shape)
    compiled = Core().compile_model(Model([ops.SqueezeV1(parameter, AXES)], [parameter]), "TEMPLATE")
    np.testing.assert_array_equal(compiled([DATA])[0], DATA[0])
