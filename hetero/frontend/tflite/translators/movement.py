"""Elements in other places and shapes."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import moving
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.common import activated
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64


@translator("RESHAPE")
@moving
def reshape(node: TfliteNodeContext) -> Translation:
    """The shape is an input or, in older files, an attribute."""
    shape = node.get_optional_input(1) if node.has_input(1) else int64(node.get_attribute("new_shape"))
    return ops.Reshape(node.get_input(0), shape, False)


@translator("CONCATENATION")
@moving
def concatenation(node: TfliteNodeContext) -> Translation:
    return activated(node, ops.Concat(node.get_inputs(), node.get_attribute("axis")))
