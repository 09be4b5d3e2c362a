"""Shapes of inputs as options have them, and the reshaping of models to them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hetero.core.layout import has_batch
from hetero.graph import Model, get_layout, port_name, set_batch
from hetero.ops.work_estimate import Shape
from hetero.runtime import CompiledModel
from hetero.system.errors import ConfigError

# Shapes as benchmark_app has them: x[1,3],y[1,4] or [1,3].
_BRACKETS = re.compile(r"(?:[^\[\],=]*\[[-?\d., ]*\],?)+")
_SHAPE = re.compile(r"([^\[\],]*)\[([^\]]*)\]")


def parse_shapes(texts: Sequence[str], model: Model | CompiledModel) -> dict[str, Shape]:
    """Parse shapes of a model's inputs: ``x=1,3``, or ``x[1,3],y[1,4]``, or ``[1,3]`` for all of them.

    A length that is not given, ``?``, is -1. The result has the first name of each input.
    Raises ConfigError for another form.
    """
    first_names = {name: port_name(port) for port in model.inputs for name in (*port.names, port_name(port))}
    shapes: dict[str, Shape] = {}
    for text in texts:
        if _BRACKETS.fullmatch(text):
            pairs = _SHAPE.findall(text)
        else:
            name, _, lengths = text.rpartition("=")
            pairs = [(name, lengths.strip("[] "))] if name else []
        try:
            parsed = [(name, tuple(map(_length, filter(str.strip, lengths.split(","))))) for name, lengths in pairs]
        except ValueError:
            parsed = []
        if not parsed:
            raise ConfigError(
                f"{text} is no shape of an input: write NAME=1,3,224,224, or NAME[1,3],NAME[1,4], or [1,3] for all"
            )
        for name, shape in parsed:
            shapes |= {first_names.get(name, name): shape} if name else dict.fromkeys(first_names.values(), shape)
    return shapes


def _length(text: str) -> int:
    return -1 if text.strip() == "?" else int(text)


def reshape(model: Model, shapes: Mapping[str, Shape], batch: int = 0) -> None:
    """Set the shapes of inputs, and then their batch size: the first dimension, unless layouts name another."""
    if shapes:
        model.reshape({name: list(shape) for name, shape in shapes.items()})
    if batch and any(has_batch(get_layout(port)) for port in model.inputs):
        set_batch(model, batch)
    elif batch:
        model.reshape({port: [batch, *port.partial_shape[1:]] for port in model.inputs if len(port.partial_shape)})


def shapes_that_do_not_fit(model: Model, shapes: Mapping[str, Shape]) -> dict[str, Shape]:
    """Return the complete shapes that inputs of the model do not take as they are."""
    return {
        name: shapes[name]
        for port in model.inputs
        if (name := port_name(port)) in shapes
        and min(shapes[name], default=0) >= 0
        and not port.partial_shape.compatible(shapes[name])
    }
