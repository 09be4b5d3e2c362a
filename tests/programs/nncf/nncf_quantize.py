"""nncf: quantizes a convolutional network to int8 with calibration data, saves it and runs it."""

import sys

import nncf
import numpy as np
import openvino as ov
from openvino import opset13 as ops

random = np.random.default_rng(0)


def weights(*shape: int) -> np.ndarray:
    return (random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


image = ops.parameter([1, 3, 32, 32], np.float32, name="image")
x = ops.convolution(image, weights(16, 3, 3, 3), [2, 2], [1, 1], [1, 1], [1, 1])
x = ops.relu(ops.add(x, weights(1, 16, 1, 1)))
branch = ops.relu(ops.convolution(x, weights(16, 16, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1]))
x = ops.reduce_mean(ops.add(x, branch), [2, 3])
model = ov.Model([ops.matmul(x, weights(10, 16), False, True)], [image], "network")

calibration = [random.standard_normal((1, 3, 32, 32)).astype(np.float32) for _ in range(20)]
quantized = nncf.quantize(model, nncf.Dataset(calibration), subset_size=20)
ov.save_model(quantized, "quantized.xml")
compiled = ov.Core().compile_model("quantized.xml", "CPU")
np.savez(
    sys.argv[1],
    logits=[compiled(image)[0] for image in calibration[:4]],
    operations=sorted(op.get_type_name() for op in quantized.get_ops()),
    # One step of the last quantization is 1/255 of its range; OpenVINO computes in int8 between the steps.
    tolerance=0.02,
)
