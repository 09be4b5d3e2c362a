"""convert_model on files: shapes, element types, order of inputs, outputs, extensions. torch is not needed."""

import logging

import numpy as np
import pytest

from hetero import PartialShape, Type, convert_model, ops
from hetero.frontend import ConversionExtension
from hetero.graph import Model, Parameter
from hetero.runtime import Core
from hetero.system.errors import FrontendError, GraphError
from tests.frontend.pytorch.test_cases import CASES
from tests.frontend.stored_calls import read_calls


@pytest.fixture
def path(tmp_path):
    """The IR of a model of two inputs, x and y, and of the outputs sum and product."""
    from hetero import save_model

    x, y = (Parameter("f32", [2, 3], name=name) for name in "xy")
    total, product = ops.Add(x, y, name="add"), ops.Multiply(x, y, name="multiply")
    for node, name in ((x, "x"), (y, "y"), (total, "sum"), (product, "product")):
        node.output(0).names = {name}
    save_model(Model([total, product], [x, y]), tmp_path / "model.xml")
    return tmp_path / "model.xml"


def infer(model, *arrays):
    return Core().compile_model(model, "TEMPLATE")(list(arrays)).to_tuple()


def test_a_file_is_read_as_core_reads_it(path):
    x = np.ones((2, 3), np.float32)
    for array, expected in zip(infer(convert_model(path), x, x * 2), (x * 3, x * 2), strict=True):
        np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("shapes", [
    [[-1, 3], [-1, 3]], ([-1, 3], [-1, 3]), {"x": [-1, 3], "y": [-1, 3]}, [("x", [-1, 3]), ("y", (-1, 3))],
    [PartialShape([-1, 3])] * 2, {"y": (-1, 3), "x": PartialShape("?,3")},
])  # fmt: skip
def test_shapes(path, shapes):
    model = convert_model(path, input=shapes)
    assert {port.any_name: port.partial_shape for port in model.inputs} == dict.fromkeys("xy", PartialShape([-1, 3]))


@pytest.mark.parametrize("shape", [[-1, 3, 16, 16], [(1, 8), 3, 16, 16], ("x", [-1, 3, 16, 16])])
def test_the_shape_of_the_only_input(shape):
    model = convert_model(CASES / "dynamic_batch.pt2", shape)
    expected = shape[1] if shape[0] == "x" else shape
    assert model.input().partial_shape == PartialShape(expected)


def test_element_types(path):
    model = convert_model(path, input=[Type.i32, ("y", np.float64)])
    assert [port.element_type for port in model.inputs] == [Type.i32, Type.f64]
    assert [port.any_name for port in model.inputs] == ["x", "y"]
    x, y = np.full((2, 3), 7, np.int32), np.full((2, 3), 0.5)
    assert infer(model, x, y)[0].tolist() == [[7.5] * 3] * 2


def test_inputs_have_the_order_in_which_they_are_named(path):
    assert [port.any_name for port in convert_model(path, input=["y", "x"]).inputs] == ["y", "x"]
    assert [port.any_name for port in convert_model(path, input="y").inputs] == ["y", "x"]


@pytest.mark.parametrize("output", ["product", ["product"], "multiply", "product,sum", ["product", "add"]])
def test_outputs(path, output):
    x = np.full((2, 3), 3, np.float32)
    found = infer(convert_model(path, output=output), x, x)
    np.testing.assert_array_equal(found[0], x * x)
    assert len(found) == 1 or (found[1] == x + x).all()


def test_states_are_kept_with_other_outputs():
    model = convert_model(CASES / "cache.pt2", output="project/linear")
    assert len(model.get_variables()) == 2


def test_extensions():
    model = convert_model(CASES / "cond.pt2", extension=ConversionExtension(
        "aten::sub", lambda node: ops.Add(node.get_input("self"), np.float32(100)).outputs()))  # fmt: skip
    x = read_calls(CASES, "cond")[1][0][0]
    np.testing.assert_allclose(infer(model, x)[0], x + 100)


def test_verbose_lists_the_operations(path, caplog):
    with caplog.at_level(logging.INFO):
        convert_model(path, verbose=True)
    assert "1 Add" in caplog.text


@pytest.mark.parametrize(("options", "message"), [
    ({"output": "total"}, "no tensor 'total'"),
    ({"input": ["z"]}, "z"),
    ({"input": [[2, 3]] * 3}, "2"),
    ({"input": [[5, 3], [2, 3]]}, "shape"),
    ({"example_input": 1}, "example_input is for torch modules"),
])  # fmt: skip
def test_errors(path, options, message):
    with pytest.raises((FrontendError, GraphError), match=message):
        convert_model(path, **options)
