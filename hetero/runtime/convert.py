"""convert_model: a Model from a file of any format, or from an object of a framework."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hetero.errors import FrontendError
from hetero.frontend import ModelSource
from hetero.frontend.pytorch.exported import export, is_module
from hetero.graph import Model, Output
from hetero.ops.variables import Assign
from hetero.runtime.front_end_manager import FrontEndManager
from hetero.shape import PartialShape

# The shape of an input, or those of several inputs in order or by name.
Shapes = Any


def convert_model(
    input_model: ModelSource,
    input: Shapes = None,
    output: str | Sequence[str] | None = None,
    example_input: Any = None,
    extension: Any = None,
    share_weights: bool = True,
) -> Model:
    """Return the model of a file of any known format, of an object of its framework, or of a torch.nn.Module.

    ``input``: the shape of the only input, or a list or a dict by name of the shapes of inputs; -1 and ranges such as
    ``(1, 8)`` are dynamic. ``output``: the names of tensors that become the outputs. ``example_input``: for a module,
    a tensor, a tuple of the arguments of ``forward``, or a dict of its keyword arguments. ``extension``: as for
    ``Core.add_extension``. ``share_weights``: let the model use the memory of a module's weights.

    Raises FrontendError if the model cannot be read, exported by torch or translated.
    """
    shapes = _as_mapping_or_list(input)
    if is_module(input_model):
        input_model = export(input_model, example_input, shapes, share_weights)
        shapes = None
    elif example_input is not None:
        raise FrontendError("example_input is for torch modules")
    frontend = FrontEndManager().load_by_model(input_model)
    if extension is not None:
        frontend.add_extension(extension)
    model = frontend.convert(input_model)
    if shapes is not None:
        named: Mapping[Any, Any] = shapes if isinstance(shapes, Mapping) else dict(enumerate(shapes))
        model.reshape(named)
    return model if output is None else _with_outputs(model, [output] if isinstance(output, str) else output)


def _as_mapping_or_list(shapes: Shapes) -> Mapping[str, PartialShape] | list[PartialShape] | None:
    if shapes is None:
        return None
    if isinstance(shapes, Mapping):
        return {name: PartialShape(shape) for name, shape in shapes.items()}
    if isinstance(shapes, list) and shapes and all(isinstance(one, (list, tuple, PartialShape)) for one in shapes):
        return [PartialShape(one) for one in shapes]
    return [PartialShape(shapes)]


def _with_outputs(model: Model, names: Sequence[str]) -> Model:
    """Return the part of a model that computes the tensors of these names."""
    by_name: dict[str, Output] = {}
    for node in model.get_ordered_ops():
        for value in node.outputs():
            by_name |= dict.fromkeys(value.names, value)
    for name in names:
        if name not in by_name:
            raise FrontendError(f"the model has no tensor '{name}'")
    values = [by_name[name] for name in names]
    sinks = [node for node in model.sinks if isinstance(node, Assign)]
    return Model(values, model.parameters, model.friendly_name, sinks=sinks)
