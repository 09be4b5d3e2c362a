"""openvino: ovc converts an ONNX model with a chosen output and input shape to IR, which is read and run."""

import subprocess
import sys

import numpy as np
import onnx
import openvino as ov

network = onnx.parser.parse_model("""
    <ir_version: 8, opset_import: ["" : 17]>
    network (float[N, 3, H, W] image) => (float[N, 4] scores, float[N, 4] sums) {
        filtered = Conv <pads = [1, 1, 1, 1]> (image, weights)
        positive = Relu (filtered)
        pooled = GlobalAveragePool (positive)
        sums = Flatten (pooled)
        scores = Softmax (sums)
    }""")
random = np.random.default_rng(0)
weights = random.standard_normal((4, 3, 3, 3)).astype(np.float32)
network.graph.initializer.append(onnx.numpy_helper.from_array(weights, "weights"))
onnx.save(network, "network.onnx")
options = ["--input", "image[1,3,?,16]", "--output", "scores", "--output_model", "converted/network.xml"]
subprocess.run(["ovc", "network.onnx", *options], check=True)
model = ov.Core().read_model("converted/network.xml")
image = random.random((1, 3, 8, 16), np.float32)
np.savez(
    sys.argv[1],
    shape=str(model.input("image").partial_shape),
    outputs=sorted(name for port in model.outputs for name in port.names),
    types=sorted(op.get_element_type().to_string() for op in model.get_ops() if op.get_type_name() == "Constant"),
    scores=ov.compile_model(model, "CPU")(image)[0],
)
