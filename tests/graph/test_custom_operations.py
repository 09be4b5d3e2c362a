"""User-defined operations: the same class bodies with OpenVINO and hetero, and declared classes of hetero."""

import re

import numpy as np
import openvino
import pytest

import hetero
from hetero import Core, Model, Op, Parameter, ops
from hetero.core.types import Type
from hetero.system.errors import DeviceError, GraphError
from tests.custom_operations import Power, X, built, classes, described, infer, nodes, opset


def compared(make):
    """Return the result of a function for hetero, after checking that it is the same for OpenVINO."""
    theirs, ours = make(openvino), make(hetero)
    assert theirs == ours
    return ours


def test_descriptions_of_nodes():
    def describe(ov):
        all_nodes = nodes(built(ov)[0])
        return {name: all_nodes[name] for name in ("first", "parts", "total")}

    found = compared(describe)
    assert found["first"]["type"] == ("Identity", "extension", "Identity")
    assert found["first"]["attributes"]["numbers"] == [1, 2]
    assert found["total"]["type"][0] == "ScaledSum" and found["total"]["inputs"] == [[2, 2], [2, 2]]


@pytest.mark.parametrize("clone", [False, True])
def test_models_compute_the_same(clone):
    x = np.arange(8, dtype=np.float32).reshape(2, 4)

    def run(ov):
        model = built(ov)[0]
        return infer(ov, model.clone() if clone else model, x)

    assert compared(run) == (-1.5 * (x[:, :2] + x[:, 2:])).tolist()


def test_reshape():
    def run(ov):
        model = built(ov)[0]
        model.reshape([3, 6])
        return nodes(model)["total"], infer(ov, model, np.ones((3, 6), np.float32))

    total, result = compared(run)
    assert total["outputs"] == [("[3,3]", "f32")] and result == [[-3] * 3] * 3


def test_a_reshape_that_an_operation_rejects_leaves_the_model_unchanged():
    class Even(Op):
        inputs = ("x",)

        def validate_and_infer_types(self):
            shape = self.get_input_partial_shape(0)
            assert shape[1].get_length() % 2 == 0, "an odd number of columns"
            self.set_output_type(0, self.get_input_element_type(0), shape)

    x = x_of((2, 4))
    model = Model([Even(x)], [x])
    with pytest.raises(AssertionError, match="an odd number of columns"):
        model.reshape([2, 3])
    assert model.output().shape == model.input().shape == (2, 4)


def test_dynamic_shapes():
    def run(ov):
        model = built(ov, (-1, 4))[0]
        compiled = ov.Core().compile_model(model, "CPU" if ov is openvino else "TEMPLATE")
        return [compiled(np.ones((rows, 4), np.float32))[0].tolist() for rows in (1, 3)]

    assert compared(run) == [[[-3.0] * 2], [[-3.0] * 2] * 3]


def test_each_way_to_pass_inputs():
    def describe(ov):
        identity, scaled, halves = classes(ov)
        x = opset(ov).parameter([2, 4], np.float32)
        late = scaled()
        assert late.get_output_size() == 0 and late.get_input_size() == 0
        late.set_argument(0, x.output(0))
        late.set_argument(1, x.output(0))
        late.set_argument(1, opset(ov).relu(x).output(0))
        late.constructor_validate_and_infer_types()
        empty = identity()
        sizes = [node.get_input_size() for node in (halves(x), halves([x]), identity((x,)), empty, late)]
        return sizes, [described(node) for node in (halves(x), halves([x]), identity([x.output(0)]), late)]

    assert compared(describe)[0] == [1, 1, 1, 0, 2]


def run(node, *arrays, device="TEMPLATE"):
    """Return the first output of a node, whose Parameters get the arrays."""
    parameters = [value.node for value in node.input_values() if isinstance(value.node, Parameter)]
    return Core().compile_model(Model([node.output(0)], parameters), device)(list(arrays))[0]


def x_of(shape=(2, 3), kind="f32"):
    return Parameter(kind, shape, name="x")


@pytest.mark.parametrize("shape", [(2, 3), (-1, 3), (-1, -1)])
@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
def test_declared_operations_are_evaluated(shape, kind):
    found = run(Power(x_of(shape, kind), np.float32(1).astype(Parameter(kind, []).element_type.to_dtype())), X)
    np.testing.assert_allclose(found.astype(np.float32), X**2 + 1)


def test_operations_on_constants_are_folded():
    sum = ops.Add(x_of(), Power(X))
    compiled = Core().compile_model(Model([sum], [sum.input_value(0).node]), "TEMPLATE")
    assert [n.rt_info["layerType"] for n in compiled.get_runtime_model().get_ops() if n.get_output_size() > 0][1:3] == [
        "Const", "Add",
    ]  # fmt: skip
    np.testing.assert_allclose(compiled([X])[0], X + X**2)


def test_nodes_of_the_same_inputs_and_attributes_are_merged():
    """Nodes of other attributes are not."""
    x = x_of()
    same, other = ops.Add(Power(x), Power(x)), ops.Add(Power(x), Power(x, exponent=3))
    for node, expected, count in ((same, 2 * X**2, 1), (other, X**2 + X**3, 2)):
        compiled = Core().compile_model(Model([node], [x]), "TEMPLATE")
        np.testing.assert_allclose(compiled([X])[0], expected)
        kinds = [n.rt_info["layerType"] for n in compiled.get_runtime_model().get_ops()]
        assert kinds.count("Power") == count


def test_nodes_of_a_class_with_undeclared_state_are_not_merged():
    class Hidden(Op):
        def __init__(self, inputs=None, factor=1.0):
            self.factor = factor
            super().__init__(self, inputs)

        def validate_and_infer_types(self):
            self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

        def evaluate(self, outputs, inputs):
            outputs[0].data[:] = inputs[0].data * self.factor
            return True

    x = x_of()
    model = Model([ops.Add(Hidden([x], 2.0), Hidden([x], 3.0))], [x])
    np.testing.assert_allclose(Core().compile_model(model.clone(), "TEMPLATE")([X])[0], 5 * X)


def test_in_bodies():
    x, again = x_of(), Parameter("f32", [2, 3])
    body = Model([Power(again), ops.Constant(np.array(True))], [again])
    loop = ops.Loop(np.int32(3), np.array(True))
    loop.set_function(body)
    loop.set_special_body_ports([-1, 1])
    loop.set_merged_input(again, x.output(0), body.results[0])
    result = loop.get_iter_value(body.results[0].output(0), -1)
    found = Core().compile_model(Model([result], [x]), "TEMPLATE")([X])[0]
    np.testing.assert_allclose(found, X**8, rtol=1e-5)


def test_outputs_whose_shape_depends_on_data():
    class Positive(Op):
        inputs = ("x",)

        def validate_and_infer_types(self):
            self.set_output_type(0, self.get_input_element_type(0), [-1])

        def evaluate(self, outputs, inputs):
            found = inputs[0].data[inputs[0].data > 0]
            outputs[0].shape = found.shape
            outputs[0].data[:] = found
            return True

    np.testing.assert_array_equal(run(Positive(x_of()), X), X[X > 0])
    np.testing.assert_array_equal(run(Positive(x_of()), -np.abs(X)), [])


@pytest.mark.parametrize("shape", [(2,), (-1,)], ids=str)
def test_strings_of_any_length(shape):
    class Greeting(Op):
        inputs = ("x",)

        def validate_and_infer_types(self):
            self.set_output_type(0, Type.string, self.get_input_partial_shape(0))

        def evaluate(self, outputs, inputs):
            outputs[0].str_data = [f"Hello, {name}!" for name in inputs[0].str_data]
            return True

    assert run(Greeting(x_of(shape, "string")), np.array(["you", "wörld"])).tolist() == ["Hello, you!", "Hello, wörld!"]


def fails(problem):
    """Return a class whose evaluate calls this function."""

    class Failing(Op):
        inputs = ("x",)

        def validate_and_infer_types(self):
            self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

        def evaluate(self, outputs, inputs):
            return problem(outputs[0], inputs[0])

    return Failing


def reshapes(output, x):
    return np.reshape(x.data, (4,))


def writes_to_its_input(output, x):
    x.data[:] = 0
    return True


def makes_another_shape(output, x):
    output.shape = (2, 2)
    return True


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (reshapes, r"line \d+, failed: ValueError: cannot reshape array of size 6 into shape \(4,\)"),
        (writes_to_its_input, r"line \d+, failed: ValueError: assignment destination is read-only"),
        (lambda output, x: None, "returned None, but must return True when it has computed the outputs"),
        (lambda output, x: False, "returned False, but must return True"),
        (makes_another_shape, r"returned output 0 of the shape \[2, 2\], but must return \[2,3\]"),
    ],
)
def test_errors_of_evaluate_name_node_class_file_and_line(problem, message):
    node = fails(problem)(x_of(), name="mine")
    where = rf"Failing 'mine': evaluate of \S*fails.<locals>.Failing in {re.escape(__file__)}"
    with pytest.raises(DeviceError, match=f"{where},? {message}"):
        run(node, X)


def test_no_device_supports_an_operation_without_evaluate():
    class Unheard(Op):
        inputs = ("x",)

        def validate_and_infer_types(self):
            self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

    assert not Unheard(x_of()).has_evaluate() and Power(x_of()).has_evaluate()
    with pytest.raises(DeviceError, match="the reference does not evaluate extension::Unheard"):
        run(Unheard(x_of()), X)


class Strange(Op):
    def __init__(self, inputs=None):
        super().__init__(self, inputs)

    def get_type_info(self):
        return "Strange"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: type("Strange", (Op,), {"class_type_info": "Strange"}), "Strange: its type info must be"),
        (lambda: Strange(), "Strange: its type info must be a DiscreteTypeInfo, but is 'Strange'"),
        (lambda: Power(x_of(), exponent="two"), "Power: attribute exponent cannot be 'two', it takes float"),
        (lambda: Power.of([], {}), "Power: it has 0 inputs, but takes 1 to 2"),
        (lambda: Power(x_of()).set_argument(3, x_of()), "it has 1 inputs, so input 3 cannot be set"),
    ],
)  # fmt: skip
def test_errors_of_wrong_definitions(make, message):
    with pytest.raises(GraphError, match=message):
        make()
