"""Extensions for operators of PyTorch: of ATen, by name or by overload, and of users."""

import json

import numpy as np
import pytest

from hetero import Core, OpExtension, ops
from hetero.frontend import ConversionExtension
from hetero.system.errors import FrontendError
from tests.frontend.pytorch.test_cases import CASES
from tests.frontend.pytorch.test_damaged_archives import nodes, rewritten
from tests.frontend.stored_calls import read_calls


def with_operator(target, name="cond.pt2", operator="torch.ops.aten.sub.Tensor"):
    """Return a case in which an operator of the first graph with it has another name."""

    def rename(value):
        if isinstance(value, dict):
            if value.get("target") == operator:
                value["target"] = target
            value = list(value.values())
        for one in value if isinstance(value, list) else []:
            rename(one)

    def edit(file, content):
        if file != "models/model.json":
            return content
        program = json.loads(content)
        rename(nodes(program))
        return json.dumps(program)

    return rewritten(edit, name=name)


def infer(content, *extensions, name="cond"):
    core = Core()
    core.add_extension(list(extensions))
    return [core.compile_model(content, "TEMPLATE")(inputs)[0] for inputs, _ in read_calls(CASES, name)]


def expected(name="cond"):
    return [outputs[0] for _, outputs in read_calls(CASES, name)]


@pytest.mark.parametrize("name", ["my::sub", "my::sub.Tensor"])
def test_operators_of_users(name):
    """By position, as in other formats, by the names in the operator's schema, and as an argument that is a number."""
    content = with_operator("torch.ops.my.sub.Tensor")
    with pytest.raises(FrontendError, match=r"no translation of my::sub\.Tensor \("):
        Core().read_model(content)
    for converter in (
        lambda node: ops.Subtract(node.get_input(0), ops.Convert(node.get_input(1), "f32")).outputs(),
        lambda node: ops.Subtract(node.get_input("self"), np.float32(node.get_attribute("other"))).outputs(),
    ):
        found = infer(content, ConversionExtension(name, converter))
        for array, wanted in zip(found, expected(), strict=True):
            np.testing.assert_allclose(array, wanted, rtol=1e-5)


def test_an_operation_takes_the_place_of_an_operator():
    content = (CASES / "convolutions.pt2").read_bytes()
    by_place = OpExtension("Softmax", "aten::softmax", attr_names_map={"axis": 1})
    (found,) = infer(content, by_place, name="convolutions")
    np.testing.assert_allclose(found, expected("convolutions")[0], rtol=1e-4)
    other_axis = OpExtension("Softmax", "aten::softmax.int", in_names_vec=["self"], attr_values_map={"axis": 0})
    (found,) = infer(content, other_axis, name="convolutions")
    np.testing.assert_allclose(found.sum(0), 1, rtol=1e-5)
