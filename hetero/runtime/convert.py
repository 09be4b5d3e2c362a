"""convert_model: a Model from a file of any format, or from an object of a framework."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from hetero import ops
from hetero.core.shape import Dimension, PartialShape
from hetero.core.types import Type
from hetero.frontend import ModelSource
from hetero.frontend.model_outputs import with_ports
from hetero.frontend.pytorch.exported import export, is_module
from hetero.frontend.pytorch.traced_module import TorchScriptPythonDecoder
from hetero.graph import Model, Parameter
from hetero.runtime.front_end_manager import FrontEndManager
from hetero.system.errors import FrontendError
from hetero.system.messages import get_logger

log = get_logger("hetero.runtime")
# An input: its name, shape or element type, or a tuple of several of these.
InputLike = str | PartialShape | Type | Sequence[Any]


class _Input(NamedTuple):
    """An input as the caller describes it."""

    name: str | None = None
    shape: PartialShape | None = None
    element_type: Type | None = None


def convert_model(
    input_model: ModelSource | TorchScriptPythonDecoder,
    input: InputLike | Mapping[str, InputLike] | None = None,
    output: str | Sequence[str] | None = None,
    example_input: Any = None,
    extension: Any = None,
    verbose: bool = False,
    share_weights: bool = True,
    dynamo: bool = True,
) -> Model:
    """Return the model of a file of any known format, of an object of its framework, or of a torch.nn.Module.

    A TorchScriptPythonDecoder stands for its module and example inputs. A module of TorchScript is converted to a
    program by torch.

    ``input``: an input, a list of inputs in order, or a dict of inputs by name. An input is a shape, of which -1 and
    ranges such as ``(1, 8)`` are dynamic, an element type, a name, or a tuple of these: ``("x", [-1, 4], Type.f32)``.
    ``output``: the names of tensors or operations that become the outputs, in a list or separated by commas; operators
    of the file that they do not need may be unknown.
    ``example_input``: for a module, a tensor, a tuple of the arguments of ``forward``, or a dict of its keyword
    arguments; along dynamic axes of length 1 it is repeated. The tensors of an argument that is a list of tensors or a
    cache of Hugging Face's transformers become inputs of the model, all of the shape that ``input`` has for the
    argument. ``extension``: as for ``Core.add_extension``.
    ``verbose``: log, at level INFO, which operations the model has. ``share_weights``: let the model use the memory of
    a module's weights. ``dynamo``: modules are exported by torch.export, which this parameter asks for in OpenVINO;
    False is refused.

    Raises FrontendError if the model cannot be read, exported by torch or translated.
    """
    inputs = _inputs(input)
    if isinstance(input_model, TorchScriptPythonDecoder):
        example_input = input_model.example_input if example_input is None else example_input
        share_weights, input_model = input_model.shared_memory, input_model.pt_module
    if is_module(input_model):
        if not dynamo:
            raise FrontendError("torch modules are exported by torch.export only: dynamo=False is not supported")
        shapes = {entry.name or at: entry.shape for at, entry in enumerate(inputs) if entry.shape is not None}
        types = [entry.element_type for entry in inputs]
        input_model = export(input_model, example_input, shapes, types, share_weights)
    elif example_input is not None:
        raise FrontendError("example_input is for torch modules")
    frontend = FrontEndManager().load_by_model(input_model)
    if extension is not None:
        frontend.add_extension(extension)
    outputs = output.split(",") if isinstance(output, str) else output
    model = frontend.convert(input_model) if outputs is None else frontend.convert_outputs(input_model, outputs)
    model = _with_inputs(model, inputs)
    if verbose:
        counts = Counter(node.get_type_name() for node in model.get_ops())
        log.info("%s: %s", frontend.name, ", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    return model


def is_tensorflow_model(input_model: Any) -> bool:
    """Return whether the frontend of TensorFlow reads an object or a file."""
    try:
        return FrontEndManager().load_by_model(input_model).name == "tensorflow"
    except FrontendError:
        return False


def _inputs(description: Any) -> list[_Input]:
    if description is None:
        return []
    if isinstance(description, Mapping):
        return [_input(value)._replace(name=name) for name, value in description.items()]
    is_list = isinstance(description, (list, tuple)) and not _is_shape(description)
    if is_list and not (
        isinstance(description, tuple) and len({_kind(part) for part in description}) == len(description)
    ):
        return [_input(part) for part in description]
    return [_input(description)]


def _input(description: Any) -> _Input:
    if isinstance(description, int):
        raise FrontendError(f"an input is described by its shape, element type or name, not by {description}")
    parts = description if isinstance(description, (list, tuple)) and not _is_shape(description) else [description]
    by_kind = {_kind(part): part for part in parts}
    shape, element_type = by_kind.get("shape"), by_kind.get("element_type")
    return _Input(
        by_kind.get("name"),
        None if shape is None else PartialShape(shape),
        None if element_type is None else _as_type(element_type),
    )


def _kind(part: Any) -> str:
    if isinstance(part, str):
        return "name"
    return "element_type" if isinstance(part, (Type, np.dtype, type)) or _is_torch(part) else "shape"


def _is_torch(part: Any) -> bool:
    """Return whether it is a torch.dtype, without importing torch. A torch.Size is a tuple of lengths."""
    return (type(part).__module__, type(part).__name__) == ("torch", "dtype")


def _as_type(element_type: Any) -> Type:
    """Return an element type; torch's are called ``torch.float32``."""
    return Type(str(element_type).removeprefix("torch.") if _is_torch(element_type) else element_type)


def _is_shape(lengths: Sequence[Any]) -> bool:
    """Return whether a list is a shape. One of pairs only is not a shape of ranges, but a list of shapes."""
    if isinstance(lengths, PartialShape):
        return True
    is_range = [isinstance(length, (list, tuple)) and len(length) == 2 for length in lengths]
    return all(ranges or isinstance(length, (int, Dimension)) for length, ranges in zip(lengths, is_range)) and (
        not lengths or not all(is_range)
    )


def _with_inputs(model: Model, inputs: Sequence[_Input]) -> Model:
    """Return the model with its inputs in this order, of these shapes and element types; others come after."""
    ports = [model.input(at if entry.name is None else entry.name) for at, entry in enumerate(inputs)]
    model.reshape({port: entry.shape for port, entry in zip(ports, inputs) if entry.shape is not None})
    first = [cast(Parameter, port.node) for port in ports]
    model = with_ports(model, model.results, [*first, *(node for node in model.parameters if node not in first)])
    for at, entry in enumerate(inputs):
        if entry.element_type is not None and entry.element_type is not model.input(at).element_type:
            _convert_input(model, at, entry.element_type)
    return model


def _convert_input(model: Model, index: int, element_type: Type) -> None:
    """Let an input have another element type, and convert it to the one that the model computes with."""
    before = model.parameters[index]
    after = Parameter(element_type, before.partial_shape, name=before.friendly_name)
    after.output(0).names = before.output(0).own_names
    converted = ops.Convert(after, before.element_type).output(0)
    for reader in before.output(0).get_target_inputs():
        reader.replace_source_output(converted)
    model.replace_parameter(index, after)
