"""Samples for behavior tests on devices that support a single operation."""

import numpy as np
import pytest

from hetero import Type
from hetero.conformance.samples import SampleModel, UnknownOperation, _candidates, assert_close, find_sample, supports
from hetero.system.errors import GraphError
from tests.devices import PickyPlugin, core_with


def constructible() -> list[SampleModel]:
    """The candidates that the operation sets allow, one of each operation and element type."""
    found = []
    for sample in _candidates():
        try:
            sample.model()
        except GraphError:
            continue
        found.append(sample)
    return found


def name_of(sample: SampleModel) -> str:
    return sample.model().results[0].input_value(0).node.type_info.name


@pytest.mark.parametrize("sample", constructible(), ids=lambda s: f"{name_of(s)}-{s.element_type}")
def test_results_have_the_shape_and_type_of_inputs(sample):
    for rows in (0, 1, 3):
        array = sample.array(1, rows)
        assert sample.expected(array).shape == array.shape and sample.expected(array).dtype == array.dtype
    model = sample.model(-1, length=3)
    assert (model.outputs[0].partial_shape, model.outputs[0].element_type) == (
        model.inputs[0].partial_shape,
        model.inputs[0].element_type,
    )


@pytest.mark.parametrize("name", sorted({name_of(sample) for sample in constructible()}))
def test_a_device_of_one_operation_has_a_sample(name):
    core = core_with(A=PickyPlugin(lambda node: node.type_info.name == name))
    sample = find_sample(core, "A")
    assert name_of(sample) == name and sample.takes_dynamic
    assert_close(core.compile_model(sample.model(), "A")([sample.array()])[0], sample.expected(sample.array()))


def test_one_that_takes_dynamic_shapes_is_preferred():
    """The device runs Relu of known shapes, and Exp of any."""

    def accepts(node):
        return node.type_info.name == "Exp" or (
            node.type_info.name == "Relu" and node.output(0).partial_shape.is_static
        )

    assert name_of(find_sample(core_with(A=PickyPlugin(accepts)), "A")) == "Exp"
    static = find_sample(core_with(A=PickyPlugin(lambda n: accepts(n) and n.type_info.name == "Relu")), "A")
    assert name_of(static) == "Relu" and not static.takes_dynamic


def test_a_device_without_any_of_them_is_told():
    with pytest.raises(LookupError, match="A supports none of the operations that behavior tests can use"):
        find_sample(core_with(A=PickyPlugin(lambda node: node.type_info.name == "TopK")), "A")


def test_nobody_knows_the_unheard_operation():
    sample = SampleModel(lambda x: UnknownOperation(x), Type.f32, (3,))
    assert not supports(core_with(A=PickyPlugin()), sample.model(), "A")


@pytest.mark.parametrize(
    ("found", "expected", "message"),
    [
        (np.float32([1, 2]), np.float32([[1, 2]]), "the shape is"),
        (np.float64([1, 2]), np.float32([1, 2]), "the element type is float64, not float32"),
        (np.float32([1, 2.01]), np.float32([1, 2]), "Not equal to tolerance"),
        (np.float32([1, np.nan]), np.float32([1, 2]), "nan location"),
        (np.float32([1, np.inf]), np.float32([1, -np.inf]), "inf location|Not equal"),
        (np.int32([1, 2]), np.int32([1, 3]), "Arrays are not equal"),
    ],
)
def test_what_is_not_close(found, expected, message):
    with pytest.raises(AssertionError, match=message):
        assert_close(found, expected)


def test_what_is_close():
    assert_close(np.float32([1, 2.0001, np.nan, np.inf]), np.float32([1, 2, np.nan, np.inf]))
    assert_close(np.float16([1000, 1]), np.float16([1000, 5]))  # relative to the largest
    assert_close(np.float32([]), np.float32([]))
