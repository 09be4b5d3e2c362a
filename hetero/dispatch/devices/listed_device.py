"""ListedDevice: one entry of the user's device list, with calls whose errors name the device, and its failures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hetero import properties as props
from hetero.dispatch.devices.time_limit import call_within
from hetero.graph import Model, Node
from hetero.plugin import CompiledModel, Plugin, PreparedModel, QueryResult, RemoteContext
from hetero.plugin.blobs.blob import read_blob
from hetero.plugin.blobs.blob_import import import_blob
from hetero.plugin.compiled_model import checked
from hetero.plugin.query import query_fault
from hetero.properties import PropertyTable
from hetero.system.errors import DeviceError, device_errors


@dataclass(frozen=True, eq=False)
class ListedDevice:
    """A device of ``HETERO:GPU,CPU``: its plugin, and the options to query and compile with.

    ``timeout``: seconds that a query or a compilation may take; 0 for no limit.
    """

    name: str
    plugin: Plugin
    options: dict[str, Any]
    timeout: float = 0.0

    def is_named(self, name: str) -> bool:
        """Return whether a name is one of the device: as in the list, or another one, as GPU and GPU.0 may be one."""
        kind, _, device_id = name.partition(".")
        if name == self.name or kind != self.plugin.name:
            return name == self.name
        device = self.plugin.device(self.options)
        return device.is_named(device_id) if device_id else device is self.plugin.device({})

    def query(self, model: Model) -> QueryResult:
        """Return the operations that the device supports. Raise DeviceError if it fails or its answer is invalid."""
        problem = f"{self.name} failed to query model '{model.friendly_name}'"
        with device_errors(problem):
            late = f"{self.name} did not answer the query of model '{model.friendly_name}'"
            result = call_within(self.timeout, late, self.plugin.query_model, model, self.options)
            if fault := query_fault(result, model, self.plugin.name):
                raise DeviceError(f"{problem}: {fault}")
            # A plain dictionary is accepted too; it has no reasons for refused operations.
            return result if isinstance(result, QueryResult) else QueryResult(result)

    def prepare(self, model: Model, properties: PropertyTable) -> PreparedModel:
        """Transform a model, with the properties of a query. Raise DeviceError if the device fails."""
        problem = f"{self.name} failed to transform '{model.friendly_name}'"
        with device_errors(problem):
            return call_within(self.timeout, problem, self.plugin.prepare, model, properties)

    def refused_nodes(self, prepared: PreparedModel) -> dict[Node, str]:
        """Return the nodes of a prepared model that the device cannot run. Raise DeviceError if it fails."""
        problem = f"{self.name} failed to query '{prepared.friendly_name}'"
        with device_errors(problem):
            return call_within(self.timeout, problem, self.plugin.refused_nodes, prepared)

    def compile(self, model: Model | PreparedModel) -> CompiledModel:
        """Compile a model. Raise DeviceError if the device fails or returns something else than a CompiledModel."""
        problem = f"{self.name} failed to compile '{model.friendly_name}'"
        with device_errors(problem):
            late = f"{self.name} did not compile '{model.friendly_name}'"
            if isinstance(model, PreparedModel):
                return checked(call_within(self.timeout, late, self.plugin.compile, model), problem)
            return checked(call_within(self.timeout, late, self.plugin.compile_model, model, self.options), problem)

    def default_context(self) -> RemoteContext:
        """Return the device's default context. Raises NotSupportedError if it has none."""
        device_id = self.options.get(props.device.id)
        with device_errors(f"{self.name} failed to create a context"):
            return self.plugin.get_default_context({props.device.id: device_id} if device_id else {})

    def import_blob(self, content: memoryview, more: Mapping[str, Any]) -> CompiledModel:
        """Import a compiled subgraph from a blob that the device exported, with ``more`` options.

        Raise BlobError or DeviceError.
        """
        late = f"{self.name} did not import a subgraph"
        return call_within(self.timeout, late, import_blob, self.plugin, read_blob(content), {**self.options, **more})


# Maximum number of operations that one message names.
MAX_NAMED = 5


@dataclass(frozen=True)
class Failure:
    """A device failed at these operations, by friendly name, and does not get them any more."""

    device: str
    operations: tuple[str, ...]
    error: Exception


class EstimateError(DeviceError):
    """Devices failed to estimate the cost of operations."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        super().__init__(str(failures[0].error))
        self.failures = failures


def names_of(nodes: Iterable[Node]) -> tuple[str, ...]:
    return tuple(node.friendly_name for node in nodes)


def named(nodes: Sequence[Node]) -> str:
    """Return the first few nodes for a message: ``Relu 'relu', Exp 'exp' and 3 more``."""
    shown = ", ".join(f"{node.type_info.name} '{node.friendly_name}'" for node in nodes[:MAX_NAMED])
    return shown + (f" and {len(nodes) - MAX_NAMED} more" if len(nodes) > MAX_NAMED else "")
