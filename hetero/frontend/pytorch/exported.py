"""Decoding of programs that torch has in memory. Only this module of the frontend calls torch, which made them."""

from __future__ import annotations

import copy
import inspect
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero.errors import FrontendError
from hetero.frontend.pytorch.decoded import DecodedProgram
from hetero.frontend.pytorch.decoder import decode
from hetero.frontend.pytorch.registry import find_translator
from hetero.shape import PartialShape
from hetero.types import Type

if TYPE_CHECKING:
    from torch import Tensor
    from torch.export import ExportedProgram
    from torch.nn import Module


def is_exported_program(source: Any) -> bool:
    """Return whether an object is a torch.export.ExportedProgram, without importing torch."""
    exported = sys.modules.get("torch.export")
    return exported is not None and isinstance(source, exported.ExportedProgram)


def decode_exported(program: ExportedProgram) -> DecodedProgram:
    """Return a program in the form of a file's. Weights are shared with torch."""
    from torch._export.serde import serialize

    serialized = serialize.ExportedProgramSerializer().serialize(program).exported_program
    text = json.dumps(serialize._dataclass_to_dict(serialized), cls=serialize.EnumEncoder)
    tensors = {**program.state_dict, **program.constants}
    return decode(json.loads(text), {name: _array(tensor) for name, tensor in tensors.items() if _is_tensor(tensor)})


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _array(tensor: Tensor) -> np.ndarray:
    """Return the elements of a tensor as an array; numpy has no type of its own for some."""
    import torch

    tensor = tensor.detach()
    if tensor.dtype is torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(Type.bf16.to_dtype())
    return tensor.numpy()


def is_module(source: Any) -> bool:
    """Return whether an object is a torch.nn.Module, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(source, torch.nn.Module)


def export(
    module: Module,
    example_input: Any,
    shapes: Mapping[str, PartialShape] | Sequence[PartialShape] | None,
    share_weights: bool = True,
) -> ExportedProgram:
    """Return the program of a module in evaluation mode, with operators that have translators.

    ``shapes``: those of the arguments of ``forward``, in order or by name; dynamic dimensions are so in the program.
    Raises FrontendError if torch cannot export the module.
    """
    import torch

    if not share_weights:
        module = copy.deepcopy(module)
    if example_input is None:
        if not shapes or isinstance(shapes, Mapping):
            raise FrontendError("convert_model needs example_input to export a torch module")
        example_input = tuple(torch.zeros([length.min_length or 2 for length in shape]) for shape in shapes)
    keywords = example_input if isinstance(example_input, dict) else {}
    if not keywords and not isinstance(example_input, (list, tuple)):
        example_input = (example_input,)
    positional = () if keywords else tuple(example_input)
    was_training = module.training
    module.eval()
    try:
        program = torch.export.export(
            module, positional, keywords, dynamic_shapes=_dynamic_shapes(module, positional, keywords, shapes)
        )
        return program.run_decompositions(_missing_decompositions())
    except Exception as error:  # torch raises anything for a module that it cannot export
        raise FrontendError(f"torch cannot export {type(module).__name__}: {type(error).__name__}: {error}") from error
    finally:
        module.train(was_training)


def _dynamic_shapes(
    module: Module,
    positional: Sequence[Any],
    keywords: Mapping[str, Any],
    shapes: Mapping[str, PartialShape] | Sequence[PartialShape] | None,
) -> Any:
    from torch.export import Dim

    if shapes is None:
        return None
    names = list(keywords) or list(inspect.signature(module.forward).parameters)[: len(positional)]
    by_name = shapes if isinstance(shapes, Mapping) else dict(zip(names, shapes))
    return {
        name: {axis: Dim.AUTO for axis, length in enumerate(by_name[name]) if length.is_dynamic}
        if name in by_name else None
        for name in names
    }  # fmt: skip


def _missing_decompositions() -> dict[Any, Any]:
    """Return torch's decompositions of the operators that have no translator."""
    from torch.export import default_decompositions

    return {
        operator: decomposition
        for operator, decomposition in default_decompositions().items()
        if find_translator(*_name_and_overload(operator)) is None
    }


def _name_and_overload(operator: Any) -> tuple[str, str]:
    name, _, overload = operator.name().partition(".")
    return name, overload or "default"
