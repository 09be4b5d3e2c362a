"""The helpers of factories, against those of OpenVINO."""

import numpy as np
import openvino
import pytest
from hetero.utils import decorators, input_validation, node_factory, types
from openvino import opset13 as their_ops
from openvino.utils import decorators as their_decorators
from openvino.utils import input_validation as their_checks
from openvino.utils import node_factory as their_factory
from openvino.utils import types as theirs

import hetero
from hetero import opset13

TYPES = [int, float, bool, str, np.float16, np.float32, np.int8, np.int64, np.uint64, np.bool_, np.dtype("int32")]


@pytest.mark.parametrize("data_type", TYPES, ids=str)
def test_element_types(data_type):
    found = types.get_element_type(data_type)
    assert found.to_string() == theirs.get_element_type(data_type).to_string()
    assert types.get_element_type_str(data_type) == theirs.get_element_type_str(data_type)
    assert types.get_dtype(found) == theirs.get_dtype(theirs.get_element_type(data_type)) or data_type is str


@pytest.mark.parametrize("wrong", [complex, np.complex64, object])
def test_types_without_element_type(wrong):
    with pytest.raises(hetero.exceptions.OVTypeError):
        types.get_element_type(wrong)


@pytest.mark.parametrize("value", [1, 2.5, [1, 2], np.ones((2, 3), np.int8)], ids=str)
def test_nodes_of_numbers(value):
    assert types.get_shape(value) == theirs.get_shape(value)
    found, expected = types.as_node(value, name="n"), theirs.as_node(value, name="n")
    assert found.data.tolist() == expected.data.tolist()
    assert found.get_element_type().to_string() == expected.get_element_type().to_string()
    assert found.friendly_name.startswith("n/") and expected.friendly_name.startswith("n/")
    assert types.make_constant_node(value, np.float16).data.dtype == np.float16
    assert types.as_nodes(found, found.output(0)) == [found, found.output(0)]


def test_decorators():
    def both(module, ops):
        x = ops.parameter([2], np.float32)
        double = module.binary_op(lambda left, right, name=None: ops.add(left, right))(x, np.float32(1), name="sum")
        minus = module.unary_op(lambda value, name=None: ops.negative(value))(np.float32([3]), name="minus")
        named = module.nameable_op(lambda value, name=None: ops.relu(value))(x, name="relu")
        return [node.friendly_name for node in (double, minus, named)], minus.input_value(0).get_node().data.tolist()

    assert both(decorators, opset13) == both(their_decorators, their_ops) == (["sum", "minus", "relu"], [3])


def test_custom_preprocessing():
    x = opset13.parameter([2], np.float32)

    @decorators.custom_preprocess_function
    def half(value):
        return opset13.multiply(value, np.float32(0.5))

    processor = hetero.preprocess.PrePostProcessor(hetero.Model([opset13.relu(x)], [x]))
    processor.input().preprocess().custom(half)
    assert hetero.Core().compile_model(processor.build(), "TEMPLATE")(np.float32([4, -2]))[0].tolist() == [2, 0]


@pytest.mark.parametrize(
    "attributes, requirements",
    [
        ({"a": 1, "b": [1.5, 2]}, [("a", True, np.integer, lambda x: x > 0), ("b", True, np.floating, None)]),
        ({"a": [1, 2]}, [("a", True, np.integer, None), ("missing", False, np.integer, None)]),
        ({}, [("a", True, np.integer, None)]),
        ({"a": -1}, [("a", True, np.integer, lambda x: x > 0)]),
        ({"a": 1.5}, [("a", True, np.integer, None)]),
    ],
    ids=range(5),
)
def test_checks_of_attributes(attributes, requirements):
    def outcome(module, error):
        try:
            return module.check_valid_attributes("Op", attributes, requirements)
        except error:
            return "error"

    expected = outcome(their_checks, openvino.exceptions.UserInputError)
    assert outcome(input_validation, hetero.exceptions.UserInputError) == expected


def test_lists_of_integers():
    input_validation.assert_list_of_ints([1, 2], "axes")
    for wrong in ([1.5], 3):
        with pytest.raises(hetero.exceptions.UserInputError, match="axes"):
            input_validation.assert_list_of_ints(wrong, "axes")


NODES = [
    ("Relu", 1, {}),
    ("Softmax", 1, {"axis": 2}),
    ("Convolution", 2, {"strides": [2, 2], "pads_begin": [1, 1], "pads_end": [1, 1], "dilations": [1, 1]}),
    ("Convolution", 2, {"strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0], "dilations": [1, 1],
                        "auto_pad": "same_upper", "name": "ignored", "other": 3}),
    ("Concat", 2, {"axis": 0}),
    ("Convert", 1, {"destination_type": "f16"}),
]  # fmt: skip


@pytest.mark.parametrize("kind, count, attributes", NODES, ids=lambda value: value if isinstance(value, str) else "")
def test_node_factory(kind, count, attributes):
    def make(module, ops):
        inputs = [ops.parameter([3, 3, 8, 8], np.float32) for _ in range(count)]
        node = module.NodeFactory().create(kind, [inputs[0].output(0), *inputs[1:]], attributes)
        return node.get_type_name(), list(node.shape), node.output(0).element_type.to_string()

    assert make(node_factory, opset13) == make(their_factory, their_ops)


def test_node_factory_without_inputs_and_with_wrong_ones():
    factory = node_factory._get_node_factory("opset8")
    relu = factory.create("Relu")
    relu.set_arguments([opset13.parameter([2, 3], np.float32)])
    relu.constructor_validate_and_infer_types()
    assert relu.get_type_info().version_id == "opset1" and list(relu.output(0).shape) == [2, 3]
    for call, message in [
        (lambda: factory.create("Relus", []), "there is no operation Relus; did you mean Relu"),
        (lambda: factory.create("Relu", None, {}), "Relu: attributes are given without inputs"),
        (lambda: factory.create("Relu", []), "Relu: it has 0 inputs"),
        (lambda: node_factory.NodeFactory("opset99"), "there is no operation set opset99"),
        (lambda: factory.add_extension("lib.so"), "cannot be added to a NodeFactory"),
    ]:
        with pytest.raises(hetero.exceptions.UserInputError, match=message):
            call()


def test_node_factory_with_extensions():
    class Twice(hetero.Op):
        inputs = ("data",)

        def validate_and_infer_types(self):
            self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

    factory = node_factory.NodeFactory()
    factory.add_extension(Twice)
    assert isinstance(factory.create("Twice", [opset13.parameter([2], np.float32)]), Twice)
