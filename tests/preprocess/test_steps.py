"""Preprocessing beyond OpenVINO's Python API, and the messages of errors."""

import numpy as np
import pytest

import hetero
from hetero import Core, Layout, Model, Parameter, Type, ops
from hetero.preprocess import ColorFormat, PaddingMode, PrePostProcessor, ResizeAlgorithm
from hetero.system.errors import GraphError


def processor_of(shape=(1, 3, 8, 8)):
    x = Parameter(Type.f32, shape, name="x")
    return PrePostProcessor(Model([ops.Abs(x)], [x], "m"))


def infer(processor, *arrays):
    return Core().compile_model(processor.build(), "TEMPLATE")(list(arrays))[0]


def test_clamp():
    """OpenVINO has this step in C++ only."""
    processor = processor_of([5])
    processor.input().preprocess().clamp(-2, 1.5)
    processor.output().postprocess().clamp(0.5, 1.75)
    data = np.array([-9, -1, 0, 1, 9], np.float32)
    assert "clamp (-2,1.5): ([5], <no layout>, f32) -> ([5], <no layout>, f32)" in str(processor)
    np.testing.assert_array_equal(infer(processor, data), np.clip(np.abs(np.clip(data, -2, 1.5)), 0.5, 1.75))


def test_custom_step_that_returns_a_node():
    processor = processor_of([5])
    processor.input().preprocess().custom(lambda x: ops.Sqrt(x))
    np.testing.assert_allclose(infer(processor, np.arange(5, dtype=np.float32)), np.sqrt(np.arange(5)), rtol=1e-6)


def test_leading_dimensions_are_added():
    """Two dimensions are added in front, without a transposition."""
    processor = processor_of([1, 1, 4, 5])
    processor.input().tensor().set_layout("HW")
    processor.input().model().set_layout("NCHW")
    data = np.arange(20, dtype=np.float32).reshape(4, 5)
    np.testing.assert_array_equal(infer(processor, data), data[None, None])


def test_printing_does_not_change_the_model():
    processor = processor_of()
    processor.output().postprocess().convert_element_type(Type.f16)
    model = processor._model
    [absolute] = [node for node in model.get_ops() if node.get_type_name() == "Abs"]
    assert "convert type (f16)" in str(processor)
    assert len(absolute.output(0).get_target_inputs()) == 1


def test_failed_build_leaves_no_readers():
    processor = processor_of()
    processor.input().tensor().set_element_type(Type.u8)
    processor.output().postprocess().convert_element_type(Type.f16).convert_layout([0, 1])
    model = processor._model
    before = [(node, node.input_values(), [o.get_target_inputs() for o in node.outputs()]) for node in model.get_ops()]
    with pytest.raises(GraphError):
        processor.build()
    after = [(node, node.input_values(), [o.get_target_inputs() for o in node.outputs()]) for node in model.get_ops()]
    assert after == before


def mean_of_bytes(p):
    p.input().tensor().set_element_type(Type.u8)
    p.input().preprocess().mean(1)


def wrong_size(p):
    p.input().model().set_layout("NCHW")
    p.input().preprocess().resize(ResizeAlgorithm.RESIZE_LINEAR, 4, 4)


def several_planes(p):
    p.input().tensor().set_color_format(ColorFormat.NV12_TWO_PLANES)
    p.input().preprocess().mean(1)


MESSAGES = [
    (lambda p: p.input("y"), "model 'm' has no input y: 0: x"),
    (lambda p: p.input().tensor().set_layout("NCC"), "layout 'NCC' has dimension C more than once"),
    (
        lambda p: p.input().tensor().set_layout(Layout("NC")),
        "Parameter 'x': layout [N,C] does not fit its shape [1,3,8,8]",
    ),
    (lambda p: p.input().preprocess().mean([1, 2]), "layout [...] has no channels; set a layout with C, such as NCHW"),
    (mean_of_bytes, "mean needs floating-point numbers, not u8; call convert_element_type first"),
    (
        wrong_size,
        "preprocessing leads to the shape [1,3,4,4], but the model's input 'x' is [1,3,8,8]",
    ),
    (several_planes, "mean cannot be applied to the 2 planes of NV12 (multi-plane); call convert_color first"),
    (
        lambda p: p.input().tensor().set_color_format(ColorFormat.NV12_SINGLE_PLANE),
        "the model's input 'x' cannot be an image in NV12 (single plane); call convert_color",
    ),
    (
        lambda p: p.input().preprocess().pad([0], [0], [1, 2], PaddingMode.CONSTANT),
        "pad takes one value, not 2",
    ),
    (
        lambda p: p.input().preprocess().convert_layout([0, 1]),
        "convert_layout by [0, 1] needs 2 dimensions, but the input is [1,3,8,8]",
    ),
]


@pytest.mark.parametrize(("mistake", "message"), MESSAGES, ids=[message for _, message in MESSAGES])
def test_messages(mistake, message):
    processor = processor_of()
    with pytest.raises(hetero.HeteroError) as raised:
        mistake(processor)
        processor.build()
    assert str(raised.value) == message
