"""Extension for MediaPipe's operator Convolution2DTransposeBias, which TensorFlow Lite does not define.

It is a transposed convolution with a bias. Inputs: data ``[N, H, W, I]``, filters ``[O, height, width, I]`` and bias
``[O]``. Options, three i32: padding (1 is SAME), stride along W, stride along H.
"""

import struct

import hetero.opset16 as ops

from hetero.frontend import ConversionExtension
from hetero.system.errors import FrontendError


def convolution_transpose_bias(node):
    padding, stride_w, stride_h = struct.unpack("<3i", node.custom_options)
    if padding != 1:
        raise FrontendError(f"unsupported padding {padding}; only 1 (SAME) is supported")
    data, filters, bias = node.get_inputs()
    data = ops.transpose(data, [0, 3, 1, 2])
    filters = ops.transpose(filters, [3, 0, 1, 2])
    size = [side * stride for side, stride in zip(data.shape[2:], (stride_h, stride_w))]
    result = ops.convolution_backprop_data(data, filters, [stride_h, stride_w], size, auto_pad="same_lower")
    return ops.add(ops.transpose(result, [0, 2, 3, 1]), bias)


extensions = [ConversionExtension("Convolution2DTransposeBias", convolution_transpose_bias, framework="tflite")]
