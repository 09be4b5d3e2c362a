"""Constants, identities and other operators that only pass values on."""

from __future__ import annotations

import numpy as np

from hetero.frontend.tensorflow.handles import Values
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.graph import Constant
from hetero.system.errors import FrontendError


@translator("Const")
def constant(node: TensorflowNodeContext) -> Translation:
    """A complex constant becomes a real one with an additional last axis."""
    array = node.get_attribute("value")
    if np.iscomplexobj(array):
        array = np.stack([array.real, array.imag], -1)
    return Constant(array)


@translator(
    "Identity",
    "Snapshot",
    "StopGradient",
    "PreventGradient",
    "CheckNumerics",
    "CheckNumericsV2",
    "EnsureShape",
    "PlaceholderWithDefault",
)
def identity(node: TensorflowNodeContext) -> Values:
    """The first input, which may be a resource; messages and gradients do not matter."""
    return node.get_values()[:1]


@translator("IdentityN")
def identities(node: TensorflowNodeContext) -> Values:
    return node.get_values()


@translator("Placeholder", "PlaceholderV2")
def unexpected_input(node: TensorflowNodeContext) -> Translation:
    """The inputs of the model are Parameters already."""
    raise FrontendError("it is not an input of the signature, or its element type is not supported")


@translator("NoOp", "Assert")
def nothing(node: TensorflowNodeContext) -> Translation:
    return []
