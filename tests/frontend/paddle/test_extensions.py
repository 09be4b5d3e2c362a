"""Extensions for operators of PaddlePaddle, whose inputs and outputs have names."""

import json

import numpy as np
import pytest

from hetero import Core, OpExtension, ops
from hetero.frontend import ConversionExtension
from hetero.frontend.op_extension import framework_map
from hetero.frontend.translation.translators import NamedOutput
from hetero.system.errors import FrontendError
from tests.frontend.paddle.test_cases import CASES
from tests.frontend.stored_calls import read_calls

FORMS = ["pdmodel", "json"]


def renamed(form: str, old: str, new: str, name: str = "light_classifier") -> tuple[bytes, bytes]:
    """Return a case whose operators ``old`` are called ``new``, which is as long, and its parameters."""
    content = (CASES / f"{name}.{form}").read_bytes()
    assert len(old) == len(new)
    return content.replace(old.encode(), new.encode()), (CASES / f"{name}.pdiparams").read_bytes()


def infer(source, *extensions, name="light_classifier"):
    core = Core()
    core.add_extension(list(extensions))
    compiled = core.compile_model(core.read_model(*source), "TEMPLATE")
    return [compiled(inputs)[0] for inputs, _ in read_calls(CASES, name)]


def check(found, name="light_classifier"):
    for array, (_, outputs) in zip(found, read_calls(CASES, name), strict=True):
        np.testing.assert_allclose(array, outputs[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_unknown_operators_are_listed_at_once(form):
    content, parameters = renamed(form, "softmax", "my_soft")
    content = content.replace(
        b"transpose2" if form == "pdmodel" else b"relu", b"my_relu___" if form == "pdmodel" else b"myre"
    )
    with pytest.raises(
        FrontendError,
        match=r"no translation of my_soft \('\S+'\): add"
        if form == "pdmodel"
        else r"myre \('\S+'\), my_soft \('\S+'\): add",
    ):
        Core().read_model(content, parameters)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "convert",
    [
        lambda node: {"Out": [ops.Softmax(node.get_input("X"), node.get_attribute("axis", -1)).output(0)]},
        lambda node: {"Out": ops.Softmax(node.get_input("X", 0), 1)},
        lambda node: [NamedOutput("Out", ops.Softmax(node.get_input("X"), 1).output(0))],
        lambda node: ops.Softmax(node.get_input(0), 1).outputs(),
    ],
)
def test_named_inputs_and_outputs(form, convert):
    """Operators of users in JSON programs, where names are not in the file, have X and Out if they have one each."""
    check(infer(renamed(form, "softmax", "my_soft"), ConversionExtension("my_soft", convert)))


@pytest.mark.parametrize("form", FORMS)
def test_outputs_that_nothing_reads_are_left_out(form):
    """batch_norm has five outputs more, which only training reads."""
    seen = []

    def convert(node):
        seen.append(node.get_output_names())
        values = [node.get_input(name) for name in ("X", "Scale", "Bias", "Mean", "Variance")]
        result = ops.BatchNormInference(*values, epsilon=node.get_attribute("epsilon"))
        return {
            name: [result.output(0)] if name == "Y" else [node.get_input(name[:-3])] for name in node.get_output_names()
        }

    source = (CASES / f"light_classifier.{form}").read_bytes(), (CASES / "light_classifier.pdiparams").read_bytes()
    kind = "batch_norm"
    check(infer(source, ConversionExtension(kind, convert)))
    assert all(names[0] == "Y" and "SavedMean" not in names for names in seen)


@pytest.mark.parametrize("form", FORMS)
def test_an_operation_takes_the_place_of_an_operator(form):
    source = renamed(form, "softmax", "my_soft")
    check(infer(source, OpExtension("Softmax", "my_soft", ["X"], ["Out"], attr_values_map={"axis": 1})))

    @framework_map("paddle", ["X"], ["Out"], "my_soft", attr_values_map={"axis": 1})
    class MySoftmax(ops.Softmax):
        pass

    core = Core()
    core.add_extension(MySoftmax)
    assert "MySoftmax" in {node.get_type_name() for node in core.read_model(*source).get_ops()}


def test_wrong_results_are_explained():
    source = renamed("pdmodel", "softmax", "my_soft")
    for convert, message in (
        (lambda node: {"Output": node.get_input("X")}, "an output 'Output', but the outputs are Out"),
        (lambda node: {}, "no output 'Out'"),
        (lambda node: node.get_input("Z"), "value 0 of input 'Z' is missing"),
    ):
        with pytest.raises(FrontendError, match=message):
            infer(source, ConversionExtension("my_soft", convert))


def test_ports_without_names_have_indices():
    """An unknown operator of several inputs in a JSON program: its values have an order alone."""
    content = json.loads((CASES / "light_classifier.json").read_bytes())
    for operator in content["program"]["regions"][0]["blocks"][0]["ops"]:
        if operator["#"] == "1.matmul":
            operator["#"] = "3.my_product"
    source = json.dumps(content).encode(), (CASES / "light_classifier.pdiparams").read_bytes()
    with pytest.raises(FrontendError, match="use an index instead of 'X'"):
        infer(source, ConversionExtension("my_product", lambda node: node.get_input("X")))
    multiply = ConversionExtension("my_product", lambda node: ops.MatMul(*node.get_inputs(), False, False))
    check(infer(source, multiply))
