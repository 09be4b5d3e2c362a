"""The operator of MediaPipe's models that TensorFlow Lite does not have, for files that name this one as an extension.

It is a transposed convolution with a bias: inputs are data ``[N, H, W, I]``, filters ``[O, height, width, I]`` and
bias ``[O]``; its options are three i32: padding (1 is SAME), the stride along W and the one along H.
"""

import struct

import hetero.opset16 as ops

from hetero.errors import FrontendError
from hetero.frontend import ConversionExtension


def convolution_transpose_bias(node):
    padding, stride_w, stride_h = struct.unpack("<3i", node.custom_options)
    if padding != 1:
        raise FrontendError(f"padding {padding} is not known here, only SAME, which is 1")
    data, filters, bias = node.get_inputs()
    data = ops.transpose(data, [0, 3, 1, 2])
    filters = ops.transpose(filters, [3, 0, 1, 2])
    size = [side * stride for side, stride in zip(data.shape[2:], (stride_h, stride_w))]
    made = ops.convolution_backprop_data(data, filters, [stride_h, stride_w], size, auto_pad="same_lower")
    return ops.add(ops.transpose(made, [0, 2, 3, 1]), bias)


extensions = [ConversionExtension("Convolution2DTransposeBias", convolution_transpose_bias, framework="tflite")]
