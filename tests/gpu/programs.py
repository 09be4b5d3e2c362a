"""Models whose programs are compiled for GPUs that are not at hand: networks of the zoo, a decoder, operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hetero import Core, Model
from hetero.conformance.operations import OPERATIONS
from hetero.system.errors import GraphError
from tests import zoo
from tests.benchmarks.cold_start import HEADS, WIDTH, decoder
from tests.devices import MEDIAPIPE_OPERATORS
from tests.tiers import in_sample

# The TensorFlow Lite models that have most programs of their own: a quantized one, and two of weights in float16.
TFLITE = ("alexa", "face_detection_sparse", "selfie_segmentation")
# Of the cases of the table of operations, one of this number is compiled.
OPERATIONS_SAMPLE = 12


class Example(NamedTuple):
    """A model and inputs for it, in the order of its Parameters."""

    model: Model
    inputs: list[np.ndarray]


def zoo_models() -> Iterator[Example]:
    """Yield the networks of the zoo, with inputs of their usual shapes."""
    core = Core()
    core.add_extension(MEDIAPIPE_OPERATORS)
    for name in (*zoo.ONNX, *TFLITE):
        model, arrays = core.read_model(zoo.path(name)), zoo.inputs(name)
        yield Example(model, [next(arrays[name] for name in port.names if name in arrays) for port in model.inputs])


def decoders() -> Iterator[Example]:
    """Yield a decoder that reads a prompt of 64 words, and one that adds a word to 255."""
    for tokens, past in ((64, 0), (1, 255)):
        model, (_, *caches) = decoder()
        filled = [np.zeros((1, HEADS, past, WIDTH // HEADS), np.float32) for _ in caches]
        yield Example(model, [np.zeros((1, tokens), np.int64), *filled])


def operations() -> Iterator[Example]:
    """Yield a sample of the table of operations."""
    for index, operation in enumerate(OPERATIONS):
        for kind in operation.kinds:
            if in_sample(f"{index} {operation.name} {kind}", OPERATIONS_SAMPLE):
                try:
                    yield Example(operation.model(kind), operation.arrays(kind))
                except GraphError:  # the operation is not defined for this type
                    continue


def examples() -> Iterator[Example]:
    """Yield all models."""
    yield from zoo_models()
    yield from decoders()
    yield from operations()
