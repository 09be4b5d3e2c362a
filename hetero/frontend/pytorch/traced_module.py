"""OpenVINO's names for modules of torch that are converted by tracing. hetero exports them by torch.export instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hetero.system.errors import FrontendError


class ModuleExtension:
    """The replacement of a module by one operation. Only the description: conversion refuses it."""

    def __init__(
        self,
        module: Any,
        target_op: str,
        evaluate: Callable[..., Any] | None = None,
        convert: Callable[..., Any] | None = None,
        condition: Callable[[Any], bool] | None = None,
    ) -> None:
        self.module, self.target_op = module, target_op
        self.evaluate = evaluate or (lambda module, *arguments, **options: module(*arguments, **options))
        self.convert = convert or (lambda module, target_op, *arguments, **options: target_op(*arguments, **options))
        self.condition = condition or (lambda module: True)


class TorchScriptPythonDecoder:
    """A module of torch with example inputs, for ``convert_model``, which exports it by torch.export."""

    def __init__(
        self,
        pt_module: Any,
        graph_element: Any = None,
        example_input: Any = None,
        alias_db: Any = None,
        shared_memory: bool = True,
        skip_freeze: bool = False,
        constant_cache: Any = None,
        module_extensions: Sequence[ModuleExtension] | None = None,
        trace_kwargs: Any = None,
    ) -> None:
        """Raises FrontendError for module extensions. Parameters about tracing have no effect."""
        if module_extensions:
            raise FrontendError("modules cannot be replaced by operations: torch.export follows the module's own code")
        if graph_element is not None:
            raise FrontendError("a graph of TorchScript cannot be converted: give the torch.nn.Module that it is of")
        self.pt_module, self.example_input, self.shared_memory = pt_module, example_input, shared_memory


def make_16bit_traceable(model: Any, *arguments: Any, **options: Any) -> None:
    """Do nothing: torch.export takes modules whose weights have 16 bits as they are."""


def unpatch_model(model: Any, orig_forward_name: str) -> None:
    """Give each module of a model the method ``forward`` back that a program kept in the attribute of this name."""
    for _, module in model.named_modules():
        if hasattr(module, orig_forward_name):
            module.forward = getattr(module, orig_forward_name)
            delattr(module, orig_forward_name)
