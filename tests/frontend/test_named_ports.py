"""Extensions for frameworks with named inputs and outputs, some of them variadic."""

import pytest

from hetero import Op, ops
from hetero.frontend import ConversionExtension, NamedOutput, OpExtension
from hetero.system.errors import FrontendError
from tests.frontend.toy import ToyFrontEnd, toy


class Several(Op):
    """An operation with any number of inputs and two outputs."""

    inputs = ("*x",)
    output_size = 2

    def validate_and_infer_types(self):
        for index in range(2):
            self.set_output_type(index, self.get_input_element_type(0), self.get_input_partial_shape(0))


def convert(content, extension):
    frontend = ToyFrontEnd("paddle")
    frontend.add_extension(extension)
    return frontend.convert(content)


def sources(model):
    """Return, for each output of the model, the index of the last operation's output that it comes from."""
    return [result.input_value(0).index for result in model.results]


def inputs_of(model):
    return [value.node.friendly_name for value in model.results[0].input_value(0).node.input_values()]


IN = {"A": ["a1", "a2"], "B": ["b"]}
SEVERAL = OpExtension(Several, "several", ["B", "A", "C"], ["X", "Y"])


def test_variadic_and_omitted_named_inputs():
    model = convert(toy("paddle", "several", IN, {"X": ["x"], "Y": ["y"]}), SEVERAL)
    assert inputs_of(model) == ["b", "a1", "a2"] and sources(model) == [0, 1]


def test_omitted_outputs():
    assert sources(convert(toy("paddle", "several", IN, {"Y": ["y"]}), SEVERAL)) == [1]


def test_variadic_outputs():
    listed = OpExtension(Several, "several", ["A"], ["X", "X"])
    assert sources(convert(toy("paddle", "several", IN, {"X": ["x1", "x2"]}), listed)) == [0, 1]


def test_counted_inputs_that_are_left_out_at_the_end():
    extension = OpExtension("Relu", "f")
    assert inputs_of(convert(toy("paddle", "f", ["x", None, None]), extension)) == ["x"]
    with pytest.raises(FrontendError, match="f node 'mine': OpExtension of f .*: input 1 is missing"):
        convert(toy("paddle", "f", ["x", None, "z"]), extension)


def relu(node):
    return ops.Relu(node.get_input("A"))


@pytest.mark.parametrize(
    ("extension", "message"),
    [
        (OpExtension(Several, "f", ["C", "B"], ["X", "Y"]), "input 'C' is missing, but 'B' after it is not"),
        (OpExtension(Several, "f", ["A"], ["X"]), "Several has 2 outputs, but out_names_vec 1"),
        (OpExtension(Several, "f", ["A"], ["Z", "Y"]), "it returns no output 'X'"),
        (OpExtension("Relu", "f", ["A"], ["X"]), "Relu: it has 2 inputs, but takes 1 to 1"),
        (ConversionExtension("f", lambda node: {"Z": relu(node)}), "returns an output 'Z', but the outputs are X, Y"),
        (ConversionExtension("f", lambda node: {"X": relu(node)}), "it returns no output 'Y'"),
        (
            ConversionExtension("f", lambda node: {"X": [relu(node)] * 2, "Y": relu(node)}),
            "it returns 2 values of output 'X', which has 1",
        ),
        (ConversionExtension("f", lambda node: {"X": 7, "Y": 8}), "it returns 7, not a node or outputs"),
        (
            ConversionExtension("f", lambda node: [NamedOutput("Y", relu(node)), NamedOutput("X", relu(node))]),
            "it returns 'Y' as output 0, but the outputs are X, Y",
        ),
        (ConversionExtension("f", lambda node: [("Z", relu(node)), ("", relu(node))]), "it returns 'Z' as output 0"),
        (ConversionExtension("f", lambda node: [("X", 7)]), "it returns .*, not a node or outputs"),
    ],
)
def test_what_does_not_fit_the_names_is_told(extension, message):
    """The message names the node, the extension, and the extension's file and line."""
    with pytest.raises(FrontendError, match=rf"f node 'mine': \w+ of f \(.*test_named_ports.py:\d+\): .*{message}"):
        convert(toy("paddle", "f", IN, {"X": ["x"], "Y": ["y"]}), extension)


def test_outputs_in_order_need_no_names():
    extension = ConversionExtension("f", lambda node: [("", relu(node)), ("Y", relu(node))])
    assert sources(convert(toy("paddle", "f", IN, {"X": ["x"], "Y": ["y"]}), extension)) == [0, 0]
