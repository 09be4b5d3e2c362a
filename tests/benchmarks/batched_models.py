"""Models of the zoo, and their inputs, for a batch size."""

from __future__ import annotations

from pathlib import Path

import onnx
from onnx import numpy_helper

from tests import zoo
from tests.zoo_inputs import Arrays, Shape

# Shapes in use, for a model whose usual shape in the zoo is small.
_SHAPES: dict[str, Shape] = {"ocr_detection": (1, 3, 480, 480)}


def inputs(name: str, batch: int) -> Arrays:
    """Return inputs of a model by name."""
    shape = _SHAPES.get(name, zoo.MODELS[name].shapes[0])
    return zoo.inputs(name, shape=(batch, *shape[1:]))


def file(name: str, batch: int, folder: Path) -> Path:
    """Return the file of a model: that of the zoo, or a copy in the folder if that is ONNX of batch size 1 only."""
    if name in zoo.TFLITE or batch == 1:
        return zoo.path(name)
    model = onnx.load(zoo.path(name))
    (data,) = [value for value in model.graph.input if value.name == zoo.MODELS[name].input]
    size = data.type.tensor_type.shape.dim[0]
    if size.dim_value != 1:
        return zoo.path(name)
    size.dim_value = batch
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    targets = {node.input[1] for node in model.graph.node if node.op_type == "Reshape"}
    for weight in model.graph.initializer:
        if weight.name in targets and (shape := numpy_helper.to_array(weight).copy())[0] == 1:
            shape[0] = batch
            weight.CopyFrom(numpy_helper.from_array(shape, weight.name))
    copy = folder / f"{name}.onnx"
    onnx.save(model, copy)
    return copy
