"""The backend of ``torch.compile(module, backend="hetero")``, which torch finds by its entry point."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from hetero.frontend.pytorch.exported import to_array, to_tensor
from hetero.graph import Constant, Model, Parameter
from hetero.runtime.convert import convert_model
from hetero.runtime.core import Core
from hetero.system.errors import HeteroError, PropertyError
from hetero.system.messages import get_logger

if TYPE_CHECKING:
    from torch import Tensor
    from torch.fx import GraphModule

log = get_logger("hetero.runtime")


def compile_graph(
    graph: GraphModule, inputs: Sequence[Any], options: Mapping[str, Any] | None = None
) -> Callable[..., Sequence[Any]]:
    """Return a function that runs a graph on the device ``options["device"]``, by default HETERO with all devices.

    Other options are properties of the compilation. A graph that hetero cannot run stays with torch, which is logged
    with the reason; so do graphs whose gradients torch would record, as hetero computes none. Results never share
    memory with inputs. Raises DeviceError for an unknown device, PropertyError for a bad property.
    """
    properties = dict(options or {})
    device = properties.pop("device", None) or _all_devices()
    Core().resolve_device(device)
    try:
        return _CompiledGraph(graph, inputs, device, properties)
    except PropertyError:
        raise
    except HeteroError as error:
        log.warning("torch runs a graph of %d nodes: %s", len(graph.graph.nodes), error)
        return graph.forward


def _all_devices() -> str:
    """Return HETERO with one device of each kind, in the order in which they are listed."""
    return f"HETERO:{','.join(dict.fromkeys(name.partition('.')[0] for name in Core().host.available_devices))}"


class _CompiledGraph:
    """A graph of torch, compiled for a device. Its parameters and buffers are constants, unless it changes them.

    A change of a constant that torch counts (by an operator or an assignment) compiles the model again; one through
    ``.data`` or numpy it does not count. ``inputs``: examples of the arguments. Calls of several threads run one after
    the other.
    """

    def __init__(self, graph: GraphModule, inputs: Sequence[Any], device: str, properties: Mapping[str, Any]) -> None:
        import torch

        self._device, self._properties, self._lock = device, properties, threading.Lock()
        self._graph = graph
        # Numbers are lengths of tensors, which the model computes itself.
        self._tensors = [index for index, value in enumerate(inputs) if isinstance(value, torch.Tensor)]
        tensors = [inputs[index] for index in self._tensors]
        if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
            raise HeteroError("torch records its gradients, which hetero does not compute: call it in torch.no_grad()")
        if torch.is_autocast_enabled("cpu"):
            raise HeteroError("autocast is on, which hetero does not follow outside of a module")
        if others := {tensor.device.type for tensor in tensors} - {"cpu"}:
            raise HeteroError(f"it has tensors on {', '.join(others)}")
        graph, shapes = _without_numbers(graph)
        # Outside of torch's own tracing, which goes on.
        with torch.no_grad(), torch._guards.tracing(None):
            self._model = convert_model(graph, shapes, example_input=tuple(tensor.detach() for tensor in tensors))
        names = [port.any_name for port in self._model.inputs]
        self._is_number = [not _is_tensor(value) for value in _results(graph)]
        # Inputs that the graph changes in place, in the order of the outputs with their new contents.
        changed = [port.any_name.removesuffix("/after") for port in self._model.outputs[len(self._is_number) :]]
        self._changed = [names.index(name) for name in changed]
        self._constant = [
            index for index, tensor in enumerate(tensors)
            if hasattr(tensor, "_dynamo_static_input_type") and index not in self._changed
            # torch does not count the changes of these.
            and not tensor.is_inference()
        ]  # fmt: skip
        self._compile(tensors)

    def __call__(self, *values: Any) -> list[Any]:
        tensors = [values[index] for index in self._tensors]
        if self._changed and _share_memory(tensors):
            return self._graph.forward(*values)
        with self._lock:
            if self._versions != self._versions_of(tensors):
                self._compile(tensors)
            results = self._request.infer([to_array(tensors[index]) for index in self._variable]).to_tuple()
        for index, array in zip(self._changed, results[len(self._is_number) :]):
            tensors[index].copy_(to_tensor(array))
        return [array.item() if number else to_tensor(array) for array, number in zip(results, self._is_number)]

    def _compile(self, tensors: Sequence[Tensor]) -> None:
        """Compile the model with the present contents of parameters and buffers."""
        self._versions = self._versions_of(tensors)
        self._variable = [index for index in range(len(tensors)) if index not in self._constant]
        model = _with_constants(self._model, {index: tensors[index] for index in self._constant})
        self._request = Core().compile_model(model, self._device, self._properties).create_infer_request()

    def _versions_of(self, tensors: Sequence[Tensor]) -> list[tuple[int, int]]:
        """Return what differs after a change of a parameter or buffer: where it is, and how often it was changed."""
        constants = [tensors[index] for index in self._constant]
        return [(constant.data_ptr(), constant._version) for constant in constants]


def _share_memory(tensors: Sequence[Tensor]) -> bool:
    """Return whether a change of one of the tensors may be a change of another."""
    return len({tensor.untyped_storage().data_ptr() for tensor in tensors}) < len(tensors)


def _without_numbers(graph: GraphModule) -> tuple[GraphModule, list[list[int]] | None]:
    """Return a copy of a graph without inputs that are numbers, and the shapes of the others, None if all are known.

    The numbers are lengths of dynamic dimensions, which the copy reads from the tensors that have them.
    """
    import torch

    changed = torch.fx.GraphModule(graph, copy.deepcopy(graph.graph))
    inputs = list(changed.graph.find_nodes(op="placeholder"))
    numbers = [node for node in inputs if not _is_tensor(node)]
    if not numbers:
        return changed, None
    tensors = [node for node in inputs if _is_tensor(node)]
    lengths = {
        str(length): (node, axis) for node in tensors for axis, length in enumerate(_shape(node))
    }  # fmt: skip
    for node in numbers:
        if (length := lengths.get(str(node.meta["example_value"]))) is None:
            raise HeteroError(f"its input '{node.name}' is a number that is no length of a tensor")
        with changed.graph.inserting_after(inputs[-1]):
            node.replace_all_uses_with(changed.graph.call_method("size", length))
        changed.graph.erase_node(node)
    changed.recompile()
    shapes = [[length if isinstance(length, int) else -1 for length in _shape(node)] for node in tensors]
    return changed, shapes


def _shape(node: Any) -> Sequence[Any]:
    return tuple(node.meta["example_value"].shape)


def _is_tensor(node: Any) -> bool:
    import torch

    return isinstance(node.meta.get("example_value"), torch.Tensor)


def _results(graph: GraphModule) -> Sequence[Any]:
    (output,) = graph.graph.find_nodes(op="output")
    return cast(Sequence[Any], output.args[0])


def _with_constants(model: Model, tensors: Mapping[int, Tensor]) -> Model:
    """Return a copy of a model in which inputs, by index, are constants."""
    model = model.clone()
    kept: list[Parameter] = []
    for index, parameter in enumerate(model.parameters):
        if index in tensors:
            constant = Constant(to_array(tensors[index]), name=parameter.friendly_name)
            parameter.output(0).replace(constant.output(0))
        else:
            kept.append(parameter)
    changed = Model(model.results, kept, model.friendly_name, sinks=model.sinks)
    changed.validate_nodes_and_infer_types()
    return changed
