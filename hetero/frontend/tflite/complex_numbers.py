"""Complex numbers: values whose last axis, which the format does not count, has the real and the imaginary part."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hetero import ops
from hetero.frontend.translation import Translation, as_outputs
from hetero.frontend.values import int64
from hetero.graph import Output

if TYPE_CHECKING:
    from hetero.frontend.tflite.decoded import DecodedTensor
    from hetero.frontend.tflite.node_context import TfliteNodeContext


def is_complex(tensor: DecodedTensor) -> bool:
    return tensor.kind in ("COMPLEX64", "COMPLEX128")


def parts(value: Output) -> tuple[Output, Output]:
    """The real and the imaginary part."""
    # Those that were joined a moment ago are taken from there.
    if isinstance(value.node, ops.Concat) and all(isinstance(i.node, ops.Unsqueeze) for i in value.node.input_values()):
        real, imaginary = (i.node.input_value(0) for i in value.node.input_values())
        return real, imaginary
    real, imaginary = (ops.Gather(value, int64(place), int64(-1)).output(0) for place in (0, 1))
    return real, imaginary


def joined(real: Output, imaginary: Output) -> Output:
    return ops.Concat([ops.Unsqueeze(part, int64(-1)) for part in (real, imaginary)], -1).output(0)


def on_parts(node: TfliteNodeContext, translate: Callable[[TfliteNodeContext], Translation]) -> list[Output]:
    """What moves elements, done to both parts."""
    of_complex = [node.has_input(i) and is_complex(node.input_tensor(i)) for i in range(node.get_input_size())]
    of_inputs = [
        parts(node.get_input(i)) if of_complex[i] else (node.get_optional_input(i),) * 2
        for i in range(node.get_input_size())
    ]
    halves = (as_outputs(translate(node.with_inputs(inputs))) for inputs in zip(*of_inputs))
    return [joined(real, imaginary) for real, imaginary in zip(*halves)]
