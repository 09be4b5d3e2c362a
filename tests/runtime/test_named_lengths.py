"""Names of unknown lengths: one name is one length in each request, whatever a model is read from and saved to."""

import numpy as np
import onnx
import openvino
import pytest
from onnx import TensorProto, helper

import hetero
from hetero import Core, Dimension, Model, Parameter, PartialShape, Type, ops
from hetero.system.errors import GraphError, TensorError

CORE = Core()
DIFFERENT = "'batch' is one length, but it is 2 in dimension 0 of 'x' and 3 in dimension 1 of 'y'"


def pair(first="[batch,4]", second="[4,batch]") -> Model:
    parameters = [Parameter(Type.f32, shape) for shape in (first, second)]
    for parameter, name in zip(parameters, "xy"):
        parameter.output(0).names = {name}
    return Model([ops.MatMul(*parameters, False, False)], parameters, "pair")


def check(compiled) -> None:
    """Two inputs with a common length are computed, others are refused, and the request goes on."""
    request = compiled.create_infer_request()
    for rows in (2, 5):
        found = request.infer([np.ones((rows, 4), np.float32), np.ones((4, rows), np.float32)])[0]
        np.testing.assert_array_equal(found, np.full((rows, rows), 4))
        with pytest.raises(TensorError, match=DIFFERENT):
            request.infer([np.ones((2, 4), np.float32), np.ones((4, 3), np.float32)])


@pytest.mark.parametrize(
    "device", ["TEMPLATE", "GPU", "ONEDNN", "HETERO:GPU,TEMPLATE", "OPENVINO.CPU", "MULTI:TEMPLATE"]
)
def test_one_name_is_one_length(device):
    check(CORE.compile_model(pair(), device))


def test_lengths_without_a_name_may_differ():
    compiled = CORE.compile_model(pair("[?,4]", "[4,?]"), "TEMPLATE")
    assert compiled([np.ones((2, 4), np.float32), np.ones((4, 3), np.float32)])[0].shape == (2, 3)


def test_files_keep_names(tmp_path):
    file = tmp_path / "pair.xml"
    hetero.serialize(pair("[batch=2..7,4]"), file)
    model = CORE.read_model(file)
    assert [port.partial_shape.described() for port in model.inputs] == ["[batch=2..7,4]", "[4,batch]"]
    check(CORE.compile_model(model, "TEMPLATE"))
    shapes = [str(port.partial_shape) for port in openvino.Core().read_model(file).inputs]
    assert shapes == ["[2..7,4]", "[4,?]"]


@pytest.mark.parametrize("device", ["TEMPLATE", "GPU"])
def test_exported_models_keep_names(device):
    imported = CORE.import_model(CORE.compile_model(pair(), device).export_model(), device)
    assert [port.partial_shape.described() for port in imported.inputs] == ["[batch,4]", "[4,batch]"]
    check(imported)


def test_onnx():
    """A word that stands for all unknown lengths is no name; ocr_direction of the zoo has such ones."""
    for name, expected in (
        ("batch", ["[batch,4]", "[4,batch]"]),
        ("?", ["[?,4]", "[4,?]"]),
        ("None", ["[?,4]", "[4,?]"]),
    ):
        inputs = [
            helper.make_tensor_value_info(key, TensorProto.FLOAT, shape)
            for key, shape in (("x", [name, 4]), ("y", [4, name]))
        ]
        output = helper.make_tensor_value_info("z", TensorProto.FLOAT, [None, None])
        graph = helper.make_graph([helper.make_node("MatMul", ["x", "y"], ["z"])], "pair", inputs, [output])
        content = helper.make_model(graph).SerializeToString()
        onnx.checker.check_model(content)
        model = CORE.read_model(content)
        assert [port.partial_shape.described() for port in model.inputs] == expected
        if name == "batch":
            check(CORE.compile_model(model, "TEMPLATE"))


def test_reshape():
    model = pair("[?,4]", "[4,?]")
    model.reshape({"x": ["batch", 4], "y": "4, batch=1..8"})
    assert [port.partial_shape.described() for port in model.inputs] == ["[batch,4]", "[4,batch=1..8]"]
    check(CORE.compile_model(model, "TEMPLATE"))
    model.reshape({"x": [(1, 3), 4], "y": "4,5"})
    assert [str(port.partial_shape) for port in model.inputs] == ["[1..3,4]", "[4,5]"]


def test_texts():
    texts = ("batch=?", "batch=3..", "batch=3", "x.1=?", "?")
    assert [Dimension(text).name for text in texts] == ["batch", "batch", "", "x.1", ""]
    assert Dimension("batch=3..") == Dimension(3, -1)
    assert PartialShape("[n, 3]").described() == "[n,3]"
    for wrong in ("a b", "=3", "batch=", "3x", "batch=x", "batch"):  # a name alone is an error in OpenVINO too
        with pytest.raises(GraphError, match="is not a dimension: write a length"):
            Dimension(wrong)
