"""Inputs whose element type only the tensor has, and strings beside devices that have none."""

import numpy as np
import pytest

from hetero import Constant, Core, Model, Parameter, Tensor, Type, ops
from hetero.system.errors import GraphError, TensorError
from tests.devices import ENGINES, GPUS
from tests.dispatch.faulty import devices_of

WAYS = {
    "computed": lambda x, y: [y],
    "input": lambda x, y: [y, x],
    "twice": lambda x, y: [y, y],
    "boundary": lambda x, y: [ops.Add(y, x)],
    "both": lambda x, y: [y, ops.Add(y, x)],
}
PROPERTIES = {"none": {}, "timeout": {"DEVICE_TIMEOUT": 10000}, "snapshots": {"VARIABLE_SNAPSHOTS": True}}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("properties", PROPERTIES)
@pytest.mark.parametrize("devices", ["TEMPLATE", f"{GPUS[0]},TEMPLATE"])
def test_a_request_takes_one_element_type_after_another(devices, properties, way):
    x = Parameter(Type.dynamic, [-1, 3], name="x")
    model = Model(WAYS[way](x, ops.Add(x, x)), [x], "m")
    request = Core().compile_model(model, f"HETERO:{devices}", PROPERTIES[properties]).create_infer_request()
    alone = Core().compile_model(model, "TEMPLATE").create_infer_request()
    for dtype in (np.float32, np.int32, np.int64, np.float32):
        x = np.arange(6).reshape(2, 3).astype(dtype)
        for found, expected in zip(request.infer([x]).to_tuple(), alone.infer([x]).to_tuple(), strict=True):
            assert found.dtype == expected.dtype == dtype
            np.testing.assert_array_equal(found, expected)


def labels():
    return ops.StringTensorPack(np.int32([0, 3]), np.int32([3, 6]), np.uint8(list(b"catdog")), name="labels")


@pytest.mark.parametrize("device", [GPUS[0], *ENGINES])
def test_constant_strings_leave_the_other_operations_on_their_device(device):
    x = Parameter(Type.f32, [-1, 3], name="x")
    y = ops.Tanh(ops.Tanh(x, name="first"), name="second")
    length = ops.Convert(ops.StringTensorUnpack(labels(), name="unpack").output(1), "f32", name="length")
    total = ops.ReduceSum(length, np.int64([0]), name="total")
    model = Model([ops.Add(y, total, name="sum"), labels()], [x], "m")
    named = Core().query_model(model, device)
    assert not {"labels", "unpack"} & set(named)
    affinities = {name: device for name in named if name in ("first", "second", "length", "total", "sum")}
    for properties in ({}, {"AFFINITIES": affinities}):
        compiled = Core().compile_model(model, f"HETERO:{device},TEMPLATE", properties)
        where = devices_of(compiled)
        assert {where[name] for name in ("first", "second", "sum")} == {device} and where["labels"] == "TEMPLATE"
        found, texts = compiled([np.float32([[-1, 2, 3]])]).to_tuple()
        np.testing.assert_allclose(found, np.tanh(np.tanh(np.float32([[-1, 2, 3]]))) + 9, rtol=1e-5)
        assert texts.tolist() == ["cat", "dog"]


STRING_TYPES = {"text": np.str_, "any length": np.dtypes.StringDType(), "UTF-8": "S"}


@pytest.mark.parametrize("kind", STRING_TYPES)
@pytest.mark.parametrize("device", ["TEMPLATE", "HETERO:TEMPLATE", f"HETERO:{GPUS[0]},TEMPLATE"])
def test_strings_in_any_type_of_numpy(device, kind):
    texts = ["one", "", "zwölf", "四"]
    given = np.array([text.encode() for text in texts] if kind == "UTF-8" else texts, STRING_TYPES[kind])
    text, x = Parameter(Type.string, [-1]), Parameter(Type.f32, [2])
    ends = ops.StringTensorUnpack(text).output(1)
    constant = Constant(given)
    outputs = [ends, text, constant, ops.StringTensorUnpack(constant).output(1), ops.Relu(x)]
    model = Model(outputs, [text, x], "m")
    compiled = Core().compile_model(model, device)
    for ready in (compiled, Core().import_model(compiled.export_model(), device)):
        found = [value.tolist() for value in ready([given, np.zeros(2, np.float32)]).to_tuple()]
        expected = [3, 3, 9, 12]
        assert found == [expected, texts, texts, expected, [0, 0]]


def test_tensors_of_strings_of_any_length():
    texts = np.array(["one", "四"], np.dtypes.StringDType())
    tensor = Tensor(texts)
    assert tensor.bytes_data.tolist() == tensor.data.tolist() == [b"one", "四".encode()]
    other = Tensor(Type.string, [2])
    other.str_data = texts
    assert other.str_data.tolist() == texts.tolist()


def test_missing_strings_are_refused():
    missing = np.array(["one", None], np.dtypes.StringDType(na_object=None))
    text = Parameter(Type.string, [-1], name="text")
    with pytest.raises(TensorError, match="input 'text': an array of strings must not have missing values"):
        Core().compile_model(Model(text, [text], "m"), "TEMPLATE")([missing])
    with pytest.raises(GraphError, match="must not have missing values"):
        Constant(missing)
