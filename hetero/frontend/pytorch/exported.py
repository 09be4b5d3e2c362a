"""Decoding of programs that torch has in memory. Only this module and ``caches`` call torch, which made them."""

from __future__ import annotations

import copy
import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.frontend.pytorch.caches import register_caches
from hetero.frontend.pytorch.decoded import TorchProgram
from hetero.frontend.pytorch.decoder import decode
from hetero.system.errors import FrontendError

# torch's names of the element types that it cannot return as arrays, and ours.
_TYPES_WITHOUT_ARRAYS = {
    "bfloat16": "bf16", "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2", "float8_e4m3fnuz": "f8e4m3fnuz",
    "float8_e5m2fnuz": "f8e5m2fnuz", "float8_e8m0fnu": "f8e8m0",
}  # fmt: skip

if TYPE_CHECKING:
    from torch import Tensor
    from torch.export import ExportedProgram
    from torch.nn import Module


def is_exported_program(source: Any) -> bool:
    """Return whether an object is a torch.export.ExportedProgram, without importing torch."""
    exported = sys.modules.get("torch.export")
    return exported is not None and isinstance(source, exported.ExportedProgram)


def decode_exported(program: ExportedProgram) -> TorchProgram:
    """Return a program in the form of a file's. Weights are shared with torch.

    Raises FrontendError if torch cannot write the program, or it has what is not supported.
    """
    from torch._export.serde import serialize

    try:
        tensors = {**program.state_dict, **program.constants}
        serialized = (
            serialize.ExportedProgramSerializer()
            .serialize(program, serialize_state_dict=False, serialize_constants=False, serialize_example_inputs=False)
            .exported_program
        )
        text = json.dumps(serialize._dataclass_to_dict(serialized), cls=serialize.EnumEncoder)
        arrays = {name: to_array(tensor) for name, tensor in tensors.items() if _is_tensor(tensor)}
    except Exception as error:  # torch raises anything for what it cannot write
        raise FrontendError(f"torch cannot write it: {type(error).__name__}: {error}") from error
    return decode(json.loads(text), arrays)


def decomposed(program: ExportedProgram, is_known: Callable[[str, str], bool]) -> ExportedProgram:
    """Return the program without operators that are not known but can be decomposed: ``is_known(op_type, overload)``.

    The same program if it has none. Raises FrontendError if torch cannot decompose it.
    """
    from torch.export import default_decompositions

    graphs = [module.graph for module in program.graph_module.modules() if hasattr(module, "graph")]
    targets = {node.target for graph in graphs for node in graph.nodes if node.op == "call_function"}
    unknown = any(hasattr(target, "namespace") and not is_known(*_name_of(target)) for target in targets)
    # Quantized weights of torchao are objects, which decomposition makes tensors.
    if not unknown and all(_is_plain(tensor) for tensor in program.state_dict.values()):
        return program
    table = default_decompositions().items()
    try:
        return program.run_decompositions(
            {operator: decomposition for operator, decomposition in table if not is_known(*_name_of(operator))}
        )
    except Exception as error:  # torch raises anything for what it cannot decompose
        raise FrontendError(f"torch cannot decompose it: {type(error).__name__}: {error}") from error


def _name_of(operator: Any) -> tuple[str, str]:
    """Return the name of an operator, ``aten::add``, and of its overload, "" for a higher-order operator."""
    name, _, overload = operator.name().partition(".")
    return (name, overload or "default") if "::" in name else (f"{operator.namespace}::{name}", "")


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _is_plain(tensor: Any) -> bool:
    import torch

    return type(tensor) in (torch.Tensor, torch.nn.Parameter)


def to_array(tensor: Tensor) -> np.ndarray:
    """Return the elements of a tensor as an array; numpy has no type of its own for some."""
    import torch

    tensor = tensor.detach().resolve_conj().resolve_neg()
    name = _TYPES_WITHOUT_ARRAYS.get(str(tensor.dtype).removeprefix("torch."))
    if name is None:
        return tensor.numpy()
    bits = {1: torch.uint8, 2: torch.int16}[tensor.element_size()]
    return tensor.view(bits).numpy().view(Type(name).to_dtype())


def to_tensor(array: np.ndarray) -> Tensor:
    """Return a tensor with the elements of an array, of which it uses the memory if it can."""
    import torch

    if array.dtype.isbuiltin == 1:
        return torch.from_numpy(array)
    names = {ours: torchs for torchs, ours in _TYPES_WITHOUT_ARRAYS.items()}
    bits = array.view({1: np.uint8, 2: np.int16}[array.itemsize])
    return torch.from_numpy(bits).view(getattr(torch, names[Type(array.dtype).to_string()]))


def is_module(source: Any) -> bool:
    """Return whether an object is a torch.nn.Module, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(source, torch.nn.Module)


def export(
    module: Module,
    example_input: Any,
    shapes: Mapping[str | int, PartialShape],
    types: Sequence[Type | None],
    share_weights: bool = True,
) -> ExportedProgram:
    """Return the program of a module in evaluation mode.

    ``shapes``: those of the arguments of ``forward``, by name or position, or of all tensors in them, by position;
    dynamic dimensions are so in the program. Keyword arguments are in the order of ``forward``, as in OpenVINO.
    Without ``example_input`` they must be given by position, and ``types`` has the element types, by default f32.
    Raises FrontendError if torch cannot export the module.
    """
    import torch

    if not share_weights:
        module = copy.deepcopy(module)
    if example_input is None:
        if not shapes or list(shapes) != list(range(len(types))):
            raise FrontendError("convert_model needs example_input to export a torch module")
        example_input = tuple(_example(shapes[at], element_type) for at, element_type in enumerate(types))
    keywords = example_input if isinstance(example_input, dict) else {}
    if not keywords and not isinstance(example_input, (list, tuple)):
        example_input = (example_input,)
    positional = () if keywords else tuple(example_input)
    order = _argument_names(module)
    keywords = dict(sorted(keywords.items(), key=lambda item: (*order, item[0]).index(item[0])))
    names = list(keywords) or order[: len(positional)]
    register_caches()
    arguments, axes = _with_shapes(module, dict(zip(names, [*positional, *keywords.values()])), shapes)
    if shapes:
        positional, keywords = ((), arguments) if keywords else (tuple(arguments.values()), {})
    # A frozen module of TorchScript has no mode.
    was_training = {part: part.training for part in module.modules() if hasattr(part, "training")}
    if was_training:
        module.eval()
    try:
        if isinstance(module, torch.jit.ScriptModule):
            return _of_torch_script(module, arguments, shapes)
        return torch.export.export(module, positional, keywords, dynamic_shapes=axes if shapes else None)
    except FrontendError:
        raise
    except Exception as error:  # torch raises anything for a module that it cannot export
        raise FrontendError(f"torch cannot export {type(module).__name__}: {type(error).__name__}: {error}") from error
    finally:
        for part, mode in was_training.items():
            part.training = mode


def _argument_names(module: Module) -> list[str]:
    """Return the names of the arguments of ``forward``; that of a module of TorchScript has a schema."""
    if schema := getattr(module.forward, "schema", None):
        return [argument.name for argument in schema.arguments[1:]]
    return list(inspect.signature(module.forward).parameters)


def _example(shape: PartialShape, element_type: Type | None) -> Tensor:
    return to_tensor(np.zeros([length.min_length or 2 for length in shape], (element_type or Type.f32).to_dtype()))


def _of_torch_script(
    module: Module, arguments: Mapping[str, Any], shapes: Mapping[Any, PartialShape]
) -> ExportedProgram:
    """Return the program of a module of TorchScript by torch's own converter, all shapes of which are static.

    Raises FrontendError if this torch has no converter, it fails, or a shape has dynamic dimensions.
    """
    advice = "give the torch.nn.Module that it was made from to convert_model"
    if any(shape.is_dynamic for shape in shapes.values()):
        raise FrontendError(f"torch converts modules of TorchScript with static shapes only: {advice}")
    try:
        from torch._export.converter import TS2EPConverter

        names = [name for name in _argument_names(module) if name in arguments]
        return TS2EPConverter(module, tuple(arguments[name] for name in names)).convert()
    except Exception as error:  # torch raises anything for a module that it cannot convert
        raise FrontendError(
            f"torch cannot convert the module of TorchScript: {advice} ({type(error).__name__}: {error})"
        ) from error


def _lengthened(value: Any, name: str, shape: PartialShape) -> Tensor:
    """Return an example with at least 2 elements along dynamic axes: torch takes 0 and 1 as fixed.

    Raises FrontendError if it is not a tensor of as many dimensions as the shape.
    """
    import torch

    if not isinstance(value, torch.Tensor) or value.ndim != len(shape):
        kind = f"a tensor of the shape {list(value.shape)}" if isinstance(value, torch.Tensor) else type(value).__name__
        raise FrontendError(f"argument {name} of the example is {kind}, to which the shape {shape} does not apply")
    for axis, length in enumerate(shape):
        if length.is_dynamic and value.shape[axis] == 1:
            value = torch.cat([value, value], axis)
    return value


def _with_shapes(
    module: Module, arguments: Mapping[str, Any], shapes: Mapping[str | int, PartialShape]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arguments of ``forward``, lengthened, and the dynamic axes of each tensor in them.

    A shape belongs to all tensors of an argument, by its name or position. If there are shapes at more positions than
    arguments, they belong to the tensors of all arguments, some of which are in lists, in order.
    Raises FrontendError if there is no such argument or tensor.
    """
    from torch.export import Dim
    from torch.utils import _pytree

    paths, structure = _pytree.tree_flatten_with_path(dict(arguments))
    of_argument = [path[0].key for path, _ in paths]
    names = list(arguments)
    if len(shapes) > len(names):
        keys: list[str | int] = list(range(len(paths)))
    else:
        keys = [name if name in shapes else names.index(name) for name in of_argument]
    if unknown := shapes.keys() - set(keys):
        raise FrontendError(f"{type(module).__name__} has no argument {', '.join(map(str, unknown))} in its example; "
                            f"it has {', '.join(names)}")  # fmt: skip
    values, axes = [], []
    for key, name, (_, value) in zip(keys, of_argument, paths):
        shape = shapes.get(key)
        values.append(value if shape is None else _lengthened(value, name, shape))
        dynamic = {axis: Dim.DYNAMIC for axis, length in enumerate(shape or ()) if length.is_dynamic}
        axes.append(None if shape is None else dynamic)
    remaining = iter(axes)

    def axes_of(value: Any) -> Any:
        kind = _pytree.SUPPORTED_NODES.get(type(value))
        if kind is None:
            return next(remaining)
        parts, context = kind.flatten_fn(value)
        found = [axes_of(part) for part in parts]
        # torch takes the parts of any other class as a list.
        return kind.unflatten_fn(found, context) if type(value) in _pytree.BUILTIN_TYPES else found

    return _pytree.tree_unflatten(values, structure), {name: axes_of(value) for name, value in arguments.items()}
