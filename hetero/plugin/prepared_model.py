"""PreparedModel: a model that a device has transformed and is about to compile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hetero.graph import Model
from hetero.plugin.device import Device
from hetero.properties import PropertyTable

if TYPE_CHECKING:
    from hetero.plugin.plugin import Plugin
    from hetero.plugin.remote import RemoteContext


@dataclass(frozen=True, eq=False)
class PreparedModel:
    """Everything that ``Plugin.compile`` needs to make a CompiledModel."""

    plugin: Plugin
    device: Device
    #: The properties of the compilation.
    properties: PropertyTable
    #: The model as the user gave it, whose names and ports the compiled model has.
    original: Model
    #: The model to run: the original one after ``transform_model``.
    model: Model
    #: The device memory that the user chose for remote tensors; None for the default.
    context: RemoteContext | None = None
    #: The sections of the exported model if the model is imported, else empty.
    sections: Mapping[str, memoryview] = field(default_factory=dict)
