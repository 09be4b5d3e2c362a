"""Classic networks with random weights, made from topologies that the onnx package ships without weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

_TOPOLOGIES = Path(onnx.__file__).parent / "backend/test/data/light"


def write_classic(name: str, file: Path) -> None:
    """Write a network to a file, with the same weights every time."""
    model = onnx.load(_TOPOLOGIES / f"light_{name}.onnx")
    _randomize_weights(model.graph, np.random.default_rng(1))
    model.ir_version = 8
    if model.graph.node[-1].op_type == "Softmax":
        _temper_logits(model)
    onnx.checker.check_model(model)
    onnx.save(model, file)


def _randomize_weights(graph: onnx.GraphProto, generator: np.random.Generator) -> None:
    """Replace each weight that the topology makes by ConstantOfShape with a random initializer."""
    arrays = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    fillers = [node for node in graph.node if node.op_type == "ConstantOfShape"]
    nodes = [node for node in graph.node if node.op_type != "ConstantOfShape"]
    # The operator that reads each value, and the index of its input.
    roles = {name: (node.op_type, index) for node in reversed(nodes) for index, name in enumerate(node.input)}
    weights = []
    for filler in fillers:
        name = filler.output[0]
        array = _random_weight(generator, tuple(arrays[filler.input[0]]), roles.get(name))
        weights.append(numpy_helper.from_array(array.astype(np.float32), name))
    initializers = [i for i in graph.initializer if i.name in roles] + weights
    constant = {i.name for i in initializers}
    inputs = [i for i in graph.input if i.name in roles and i.name not in constant]
    for field, content in ((graph.node, nodes), (graph.initializer, initializers), (graph.input, inputs)):
        del field[:]
        field.extend(content)


def _random_weight(generator: np.random.Generator, shape: tuple[int, ...], role: tuple[str, int] | None) -> np.ndarray:
    """Return He-initialized weights, scales and variances of BatchNormalization near 1, or small biases."""
    if role in (("BatchNormalization", 1), ("BatchNormalization", 4)):
        return generator.uniform(0.5, 1.5, shape)
    if len(shape) >= 2:
        return generator.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape)
    return generator.normal(0, 0.05, shape)


def _temper_logits(model: onnx.ModelProto) -> None:
    """Scale the last weights so that logits have standard deviation 1, as a saturated softmax would hide errors."""
    import onnxruntime

    graph = model.graph
    logits = graph.node[-1].input[0]
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    probe.graph.output.append(onnx.ValueInfoProto(name=logits))
    session = onnxruntime.InferenceSession(probe.SerializeToString(), providers=["CPUExecutionProvider"])
    shape = [d.dim_value for d in graph.input[0].type.tensor_type.shape.dim]
    data = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    deviation = session.run([logits], {graph.input[0].name: data})[0].std()

    producer = {output: node for node in graph.node for output in node.output}
    weights = {i.name: i for i in graph.initializer}
    node = producer[logits]
    while not any(name in weights and len(weights[name].dims) > 1 for name in node.input):
        node = producer[node.input[0]]
    for name in node.input[1:]:
        scaled = numpy_helper.to_array(weights[name]) / deviation
        weights[name].CopyFrom(numpy_helper.from_array(scaled.astype(np.float32), name))
