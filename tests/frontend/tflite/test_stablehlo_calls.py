"""StableHLO custom calls and composites, and extensions for them."""

import numpy as np
import pytest
from flatbuffers import flexbuffers

import hetero
from hetero import ops
from hetero.frontend import ConversionExtension, OpExtension
from hetero.system.errors import FrontendError
from tests.frontend.tflite.agreement import assert_as_litert
from tests.frontend.tflite.models import Graph, Op, feed, model_of, out

X = np.float32([1, -2, 3])


def attributes(**named):
    return list(flexbuffers.Dumps(named))


def custom_call():
    return model_of(
        "STABLEHLO_CUSTOM_CALL", feed(X), outputs=[out(np.float32, (3,))], call_target_name="my.scale",
        custom_attributes=attributes(factor=2.5, call_target_name="other"),
    )  # fmt: skip


def composite():
    x = feed((3,))
    decomposition = Graph([Op("STABLEHLO_ADD", [x, x], [out(np.float32, (3,))])], name="decomposition")
    return model_of(
        "STABLEHLO_COMPOSITE", feed(X), outputs=[out(np.float32, (3,))], name="my.twice",
        decomposition_subgraph_index=decomposition, composite_attributes=attributes(alpha=0.5),
    )  # fmt: skip


def results(model, *extensions):
    core = hetero.Core()
    core.add_extension(list(extensions))
    return core.compile_model(model.content, "TEMPLATE")(model.inputs)[0]


def scale(node):
    assert node.get_attribute("call_target_name") == "my.scale"
    return ops.Multiply(node.get_input(0), np.float32(node.get_attribute("factor")))


def test_a_custom_call_needs_an_extension():
    with pytest.raises(FrontendError, match="it calls 'my.scale', for which there is no extension"):
        results(custom_call())


@pytest.mark.parametrize("name", ["my.scale", "STABLEHLO_CUSTOM_CALL"])
def test_a_custom_call_by_an_extension(name):
    np.testing.assert_array_equal(results(custom_call(), ConversionExtension(name, scale)), X * np.float32(2.5))


def test_a_composite_is_its_decomposition():
    assert_as_litert(composite())


def test_a_composite_by_an_extension():
    found = results(composite(), OpExtension("Elu", "my.twice"))
    np.testing.assert_allclose(found, np.where(X > 0, X, 0.5 * np.expm1(X)), rtol=1e-6)
