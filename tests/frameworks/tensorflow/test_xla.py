"""XlaDotV2 and XlaConvV2, which TensorFlow runs only in functions that it compiles."""

import numpy as np
import pytest

from tests.frameworks.tensorflow.agreement import assert_agrees

tf = pytest.importorskip("tensorflow")
operators = pytest.importorskip("tensorflow.compiler.tf2xla.ops.gen_xla_ops")
messages = pytest.importorskip("tensorflow.compiler.xla.xla_data_pb2")
RANDOM = np.random.default_rng(0)


def reals(*shape):
    return RANDOM.standard_normal(shape, np.float32)


# Shapes of both operands, contracting axes, batch axes.
DOTS = {
    "matrices": ((3, 4), (4, 5), ([1], [0]), ([], [])),
    "batches": ((2, 3, 4), (2, 4, 5), ([2], [1]), ([0], [0])),
    "vectors": ((4,), (4,), ([0], [0]), ([], [])),
    "other axes": ((4, 2, 3, 5), (2, 6, 4, 5), ([0, 3], [2, 3]), ([1], [0])),
    "outer": ((2, 3), (4,), ([], []), ([], [])),
}


@pytest.mark.parametrize(("left", "right", "contracting", "batch"), DOTS.values(), ids=DOTS)
def test_dot(left, right, contracting, batch):
    numbers = messages.DotDimensionNumbers(
        lhs_contracting_dimensions=contracting[0],
        rhs_contracting_dimensions=contracting[1],
        lhs_batch_dimensions=batch[0],
        rhs_batch_dimensions=batch[1],
    ).SerializeToString()

    @tf.function(jit_compile=True)
    def dot(a, b):
        return operators.xla_dot_v2(
            lhs=a, rhs=b, dimension_numbers=numbers, precision_config=b"", preferred_element_type=tf.float32
        )

    assert_agrees(dot, reals(*left), reals(*right))


def test_dot_of_integers():
    numbers = messages.DotDimensionNumbers(lhs_contracting_dimensions=[1], rhs_contracting_dimensions=[0])

    @tf.function(jit_compile=True)
    def dot(a, b):
        text = numbers.SerializeToString()
        return operators.xla_dot_v2(
            lhs=a, rhs=b, dimension_numbers=text, precision_config=b"", preferred_element_type=tf.int32
        )

    assert_agrees(dot, np.full((2, 3), 100, np.int8), np.full((3, 2), 100, np.int8))


CHANNELS_LAST = {"input": (0, 3, [1, 2]), "kernel": (3, 2, [0, 1]), "output": (0, 3, [1, 2])}
CHANNELS_SECOND = {"input": (0, 1, [2, 3]), "kernel": (0, 1, [2, 3]), "output": (0, 1, [2, 3])}
MIXED = {"input": (2, 0, [3, 1]), "kernel": (1, 3, [2, 0]), "output": (3, 2, [0, 1])}
# Axes, shapes of data and filters, other inputs.
CONVOLUTIONS = {
    "channels last": (CHANNELS_LAST, (2, 7, 8, 3), (3, 2, 3, 4), {}),
    "strides and pads": (CHANNELS_LAST, (2, 7, 8, 3), (3, 2, 3, 4), {"strides": [2, 1], "pads": [[1, 1], [0, 2]]}),
    "negative pads": (CHANNELS_SECOND, (2, 3, 7, 8), (4, 3, 3, 2), {"pads": [[-1, 1], [2, -2]]}),
    "dilations": (CHANNELS_SECOND, (2, 3, 7, 8), (4, 3, 3, 2), {"lhs": [2, 1], "rhs": [1, 2]}),
    "groups": (CHANNELS_LAST, (2, 7, 8, 6), (3, 2, 2, 9), {"groups": 3}),
    "groups of batches": (CHANNELS_SECOND, (4, 3, 7, 8), (6, 3, 3, 2), {"batch_groups": 2}),
    "mixed axes": (MIXED, (3, 8, 2, 7), (2, 4, 3, 3), {}),
}


@pytest.mark.parametrize(("axes", "data", "filters", "window"), CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_convolution(axes, data, filters, window):
    numbers = messages.ConvolutionDimensionNumbers(
        input_batch_dimension=axes["input"][0],
        input_feature_dimension=axes["input"][1],
        input_spatial_dimensions=axes["input"][2],
        kernel_output_feature_dimension=axes["kernel"][0],
        kernel_input_feature_dimension=axes["kernel"][1],
        kernel_spatial_dimensions=axes["kernel"][2],
        output_batch_dimension=axes["output"][0],
        output_feature_dimension=axes["output"][1],
        output_spatial_dimensions=axes["output"][2],
    ).SerializeToString()

    @tf.function(jit_compile=True)
    def convolve(x, kernel):
        return operators.xla_conv_v2(
            lhs=x,
            rhs=kernel,
            window_strides=tf.constant(window.get("strides", [1, 1])),
            padding=tf.constant(window.get("pads", [[0, 0], [0, 0]])),
            lhs_dilation=tf.constant(window.get("lhs", [1, 1])),
            rhs_dilation=tf.constant(window.get("rhs", [1, 1])),
            feature_group_count=tf.constant(window.get("groups", 1)),
            dimension_numbers=numbers,
            precision_config=b"",
            preferred_element_type=tf.float32,
            batch_group_count=window.get("batch_groups", 1),
        )

    assert_agrees(convolve, reals(*data), reals(*filters))
