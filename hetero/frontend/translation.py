"""What a translator gives for a node of a model."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.graph import Node, Output, as_output

# What takes the place of a node's outputs: the node that makes all of them, or a value for each.
Translation = Node | Output | Sequence[Node | Output]


def as_outputs(translation: Translation) -> list[Output]:
    """The values that take the place of a node's outputs, in order."""
    if isinstance(translation, Node):
        return translation.outputs()
    return [translation] if isinstance(translation, Output) else [as_output(value) for value in translation]
