"""SyncInferRequest: one inference at a time, with its tensors."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hetero.core.shape import PartialShape
from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.graph import Output, get_layout, port_name
from hetero.plugin.remote import RemoteTensor
from hetero.plugin.requests.profiling import STAGE, ProfilingInfo, Timer
from hetero.plugin.requests.variable_state import VariableState
from hetero.system.errors import CancelledError, DeviceError, HeteroError, NotSupportedError, TensorError, device_error
from hetero.system.tracing import NO_SPAN, is_traced, span

if TYPE_CHECKING:
    from hetero.plugin.compiled_model import CompiledModel

STAGES = ("preprocess", "start", "wait", "postprocess")
_numbers = itertools.count()


class SyncInferRequest(ABC):
    """A tensor for each port, and an inference in stages. It runs one inference at a time.

    The stages are ``preprocess``, ``start``, ``wait`` and ``postprocess``. An author defines ``start``, which may do
    all the work. The others are for devices that run asynchronously, so that transfers and computations of different
    requests overlap.

    A tensor object stays bound to a port until ``set_tensor``; an inference changes its contents, and its shape if that
    is dynamic. Several requests may share a tensor.

    An inference must not change its inputs, which others may read: their arrays may be read-only, and a device that
    computes in place must copy them. Inputs are not protected if they are remote tensors, in memory shared with the
    host, or exported by DLPack. An inference must write every output, to the memory that the tensor has at that time.
    Under HETERO a device that violates this loses its operations to other devices.
    """

    def __init__(self, compiled_model: CompiledModel) -> None:
        self.compiled_model = compiled_model
        #: Identifies the request in a trace.
        self.number = next(_numbers)
        self._tensors: dict[Output, Tensor] = {}  # those bound to the ports
        self._own: dict[Output, Tensor] = {}  # those that the request created
        self._shared: dict[Output, Tensor] = {}  # those in the user's arrays
        # The tensors of all inputs and of all outputs in order, once somebody asked for them.
        self._input_tensors: tuple[Tensor, ...] | None = None
        self._output_tensors: tuple[Tensor, ...] | None = None
        self._inputs = frozenset(compiled_model.inputs)
        self._named_lengths = _named_lengths(compiled_model.inputs)
        self._batches: dict[Output, list[Tensor]] = {}
        self.cancelled = False
        #: The time of each stage of the last profiled or traced inference.
        self.stage_times = {stage: Timer() for stage in STAGES}

    #: The stages of a subclass that start the computation, those that wait for it, and all, without those that do
    #: nothing.
    starting_stages: ClassVar[Sequence[str]]
    waiting_stages: ClassVar[Sequence[str]]
    all_stages: ClassVar[Sequence[str]]

    def __init_subclass__(cls) -> None:
        # Stages that do nothing are not called: a model cut into pieces runs hundreds of small requests.
        does = [stage for stage in STAGES if getattr(cls, stage) not in _NOTHING_TO_DO]
        cls.starting_stages = tuple(stage for stage in does if stage in STAGES[:2])
        cls.waiting_stages = tuple(stage for stage in does if stage in STAGES[2:])
        cls.all_stages = tuple(does)

    @property
    def is_profiled(self) -> bool:
        """Whether PERF_COUNT is set. It may change between inferences."""
        return self.compiled_model.is_profiled

    def preprocess(self) -> None:
        """Prepare the inputs (optional)."""
        return

    @abstractmethod
    def start(self) -> None:
        """Compute the outputs, or start to (required)."""

    def wait(self) -> None:
        """Wait for the end of the computation (optional)."""
        return

    def postprocess(self) -> None:
        """Write the outputs to their tensors (optional)."""
        return

    @np.errstate(all="ignore")  # infinities and NaN are valid results
    def infer(self) -> None:
        """Run an inference on this thread: check the inputs, run all stages, and check the outputs."""
        self.check_inputs()
        self.run_stages()
        self._finish()

    def run_stage(self, stage: str) -> None:
        """Run one stage, with the inputs checked before the first one and the outputs after the last one.

        Raises CancelledError if the inference was cancelled, and DeviceError for any error of the device.
        """
        if stage == STAGES[0]:
            self.check_inputs()
        self.run_stages([stage])
        if stage == STAGES[-1]:
            self._finish()

    def run_stages(self, stages: Sequence[str] = ()) -> None:
        """Run these stages, by default all, on tensors that the caller has checked. Raises as ``run_stage`` does."""
        is_timed = self.compiled_model.is_profiled or is_traced()
        stage = ""
        try:
            for stage in stages or self.all_stages:
                if self.cancelled and stage != "wait":  # what has started is waited for
                    self.check_cancelled()
                if is_timed:
                    self._run_timed(stage)
                else:
                    getattr(self, stage)()
        except BaseException as error:
            if (converted := self.device_error(error, stage)) is error:
                raise
            raise converted from error

    def device_error(self, error: BaseException, stage: str) -> HeteroError:
        """Return the error of a stage as one that names device and model, see ``errors.device_error``."""
        return device_error(
            error, f"{self.compiled_model.device_name} failed in {stage} of '{self.compiled_model.name}'"
        )

    def _run_timed(self, stage: str) -> None:
        with self.span(stage), self.stage_times[stage]:
            getattr(self, stage)()

    def span(self, name: str) -> AbstractContextManager[object]:
        """Return a span that a trace shows with this request, its model and its device."""
        compiled = self.compiled_model
        return span(name, compiled.name, self.number, compiled.full_device_name) if is_traced() else NO_SPAN

    def _finish(self) -> None:
        if self.cancelled:
            self.check_cancelled()
        self.check_outputs()
        if self.compiled_model.is_profiled:
            self.record_profile()

    def record_profile(self) -> None:
        """Add the times of the last inference to those of the compiled model, if it is profiled."""
        if self.is_profiled:
            self.compiled_model.execution_times.add(self.get_profiling_info())

    def cancel(self) -> None:
        """Cancel the running inference: stages that have not begun do not run, but ``wait`` follows a ``start``.

        A device may do more.
        """
        self.cancelled = True

    def check_cancelled(self) -> None:
        """Raise CancelledError if the inference was cancelled. Devices call it regularly."""
        if self.cancelled:
            raise CancelledError(f"the inference of '{self.compiled_model.name}' was cancelled")

    def get_profiling_info(self) -> list[ProfilingInfo]:
        """Return the times of the last inference (optional): by default of its stages.

        It is empty without PERF_COUNT, and before the first inference. A device appends its operations, by their names
        in ``get_runtime_model``.
        """
        if not (self.is_profiled and any(timer.real_time for timer in self.stage_times.values())):
            return []
        device = self.compiled_model.device_name
        return [
            ProfilingInfo(stage, STAGE, device, timer.real_time, timer.cpu_time)
            for stage, timer in self.stage_times.items()
        ]

    def query_state(self) -> list[VariableState]:
        """Return the state of each variable, which the request keeps between inferences (optional)."""
        return []

    def get_tensor(self, port: Output) -> Tensor:
        """Return the tensor of a port. It is created on first use, in the smallest shape that fits."""
        tensor = self._tensors.get(port)
        if tensor is None:
            tensor = self._tensors[port] = self._own_tensor(port)
        return tensor

    def _own_tensor(self, port: Output) -> Tensor:
        if port not in self._own:
            self._own[port] = smallest_tensor(port)
        return self._own[port]

    def write_input(self, port: Output, array: np.ndarray) -> None:
        """Copy an array of the port's type and shape to the request's own tensor, and bind that to the port."""
        own = self._own_tensor(port)
        own.copy_from(array)
        if self._tensors.get(port) is not own:
            self.set_tensor(port, own)

    def share_input(self, port: Output, array: np.ndarray) -> None:
        """Use an array of the port's type and shape without a copy, in one tensor for all such arrays of the port."""
        shared = self._shared.get(port)
        if shared is not None and self._tensors.get(port) is shared:
            shared.share(array)
        else:
            self._shared[port] = shared = Tensor.sharing(array, port.element_type)
            self.set_tensor(port, shared)

    def set_tensor(self, port: Output, tensor: Tensor) -> None:
        """Bind a tensor to a port. Raises TensorError if type, shape or remote context do not fit the port."""
        check_tensor(port, tensor)
        if isinstance(tensor, RemoteTensor):
            self.check_context(port, tensor)
        if self._batches:
            self._batches.pop(port, None)
        self._tensors[port] = tensor
        if port in self._inputs:
            self._input_tensors = None
        else:
            self._output_tensors = None

    def set_tensors(self, port: Output, tensors: Sequence[Tensor]) -> None:
        """Bind a batch of tensors to an input. They are joined along the first axis at the start of each inference.

        Raises TensorError if they differ in other dimensions, if the joined tensor does not fit the port, or if the
        port has a layout whose first dimension is not N.
        """
        if port not in self.compiled_model.inputs:
            raise TensorError(f"'{port_name(port)}' is an output: only inputs take a batch of tensors")
        if len(tensors) == 0 or any(not tensor.shape for tensor in tensors):
            raise TensorError(f"'{port_name(port)}' takes one tensor or more, each with a batch dimension")
        layout = get_layout(port)
        if not layout.empty and layout.names(len(tensors[0].shape))[:1] != ("N",):
            problem = f"has the layout {layout}, but a batch of tensors needs one that begins with N"
            raise TensorError(f"'{port_name(port)}' {problem}")
        kinds = {(tensor.element_type, tensor.shape[1:]) for tensor in tensors}
        if len(kinds) > 1:
            examples = ", ".join(f"{tensor.element_type}{list(tensor.shape)}" for tensor in tensors[:5])
            raise TensorError(
                f"the tensors for '{port_name(port)}' differ in more than their first dimension: {examples}"
            )
        joined = Tensor(tensors[0].element_type, [sum(tensor.shape[0] for tensor in tensors), *tensors[0].shape[1:]])
        self.set_tensor(port, joined)
        self._batches[port] = list(tensors)

    def input_tensors(self) -> Sequence[Tensor]:
        if self._input_tensors is None:
            self._input_tensors = self._tensors_of(self.compiled_model.inputs)
        return self._input_tensors

    def output_tensors(self) -> Sequence[Tensor]:
        if self._output_tensors is None:
            self._output_tensors = self._tensors_of(self.compiled_model.outputs)
        return self._output_tensors

    def _tensors_of(self, ports: Sequence[Output]) -> tuple[Tensor, ...]:
        tensors = self._tensors
        return tuple([tensors[port] if port in tensors else self.get_tensor(port) for port in ports])

    def check_inputs(self) -> None:
        """Join the batches. Raise TensorError if an input does not fit its port, or lengths of one name differ."""
        if self._batches:
            self._join_batches()
        for port, tensor in zip(self.compiled_model.inputs, self.input_tensors()):
            if not port.is_as_before(tensor):
                check_tensor(port, tensor)
        for name, places in self._named_lengths.items():
            self._check_same_length(name, places)

    def _check_same_length(self, name: str, places: Sequence[tuple[int, int]]) -> None:
        tensors, (first, axis) = self.input_tensors(), places[0]
        length = tensors[first].lengths[axis]
        for index, other_axis in places[1:]:
            if tensors[index].lengths[other_axis] != length:
                ports = self.compiled_model.inputs
                raise TensorError(
                    f"'{name}' is one length, but it is {length} in dimension {axis} of '{port_name(ports[first])}' "
                    f"and {tensors[index].lengths[other_axis]} in dimension {other_axis} of '{port_name(ports[index])}'"
                )

    def takes(self, tensor: RemoteTensor) -> bool:
        """Return whether the device can use a remote tensor without a copy, as its context is the compiled model's."""
        try:
            return self.compiled_model.context.holds(tensor)
        except NotSupportedError:
            return False

    def check_context(self, port: Output, tensor: RemoteTensor) -> None:
        """Raise TensorError if the request does not accept a remote tensor."""
        if self.takes(tensor):
            return
        where = f"'{port_name(port)}' is given a remote tensor of {tensor.get_device_name()}"
        try:
            other = f"another context than the model's on {self.compiled_model.context.get_device_name()}"
        except NotSupportedError as error:
            raise TensorError(f"{where}, but {error}") from None
        raise TensorError(f"{where} in {other}: copy it to a host tensor, or make it in the model's get_context()")

    def check_outputs(self) -> None:
        """Raise DeviceError if an output tensor does not fit its port."""
        for port, tensor in zip(self.compiled_model.outputs, self._output_tensors or self.output_tensors()):
            if port.is_as_before(tensor):
                continue
            try:
                check_tensor(port, tensor)
            except TensorError as error:
                device = self.compiled_model.device_name
                raise DeviceError(f"{device} gave a wrong output of '{self.compiled_model.name}': {error}") from None

    def _join_batches(self) -> None:
        for port, tensors in self._batches.items():
            joined, begin = self._tensors[port].array, 0
            for tensor in tensors:
                end = begin + tensor.shape[0]
                tensor.copy_to(joined[begin:end])
                begin = end


# Default implementations of the optional stages.
_NOTHING_TO_DO = (SyncInferRequest.preprocess, SyncInferRequest.wait, SyncInferRequest.postprocess)


def _named_lengths(ports: Sequence[Output]) -> dict[str, list[tuple[int, int]]]:
    """Return the names that several dimensions of inputs have, with the numbers of the inputs and the axes."""
    places: dict[str, list[tuple[int, int]]] = {}
    for index, port in enumerate(ports):
        for axis, dimension in enumerate(port.partial_shape if port.partial_shape.has_rank else ()):
            if dimension.is_dynamic and dimension.name:
                places.setdefault(dimension.name, []).append((index, axis))
    return {name: found for name, found in places.items() if len(found) > 1}


def smallest_tensor(port: Output) -> Tensor:
    """Return zeros in the smallest shape that fits a port."""
    partial = port.partial_shape if port.partial_shape.has_rank else PartialShape([-1])
    shape = [d.min_length for d in partial]
    return Tensor(Type.f32 if port.element_type.is_dynamic() else port.element_type, shape)


def repair_tensor(port: Output, tensor: Tensor) -> None:
    """Reset a tensor that a failing device left with a shape or type that does not fit the port."""
    try:
        check_tensor(port, tensor)
    except TensorError:
        tensor.take(smallest_tensor(port).array)


def check_tensor(port: Output, tensor: Tensor) -> None:
    """Raise TensorError if a tensor does not fit a port."""
    if port.is_as_before(tensor):
        return
    if tensor.element_type != port.element_type and not port.element_type.is_dynamic():
        problem = f"takes {port.element_type} elements, but the tensor has {tensor.element_type}"
        raise TensorError(f"'{port_name(port)}' {problem}")
    check_shape(port, tensor.lengths)


def check_shape(port: Output, shape: tuple[int, ...]) -> None:
    """Raise TensorError if a shape does not fit a port."""
    if port.admits(shape):
        return
    expected = port.partial_shape
    if len(expected) == len(shape):
        for axis, (dimension, length) in enumerate(zip(expected, shape)):
            if dimension.is_dynamic and not dimension.compatible(length):
                name = f" ('{dimension.name}')" if dimension.name else ""
                problem = f"has length {length} in dimension {axis}{name}, which the model limits to {dimension}"
                raise TensorError(f"'{port_name(port)}' {problem}")
    raise TensorError(f"'{port_name(port)}' takes the shape {expected}, but the tensor has {list(shape)}")
