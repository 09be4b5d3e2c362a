"""Bound model: runs the programs of a model for one request.

A model whose shapes depend on data is a chain of programs. Each is bound after the one before it has run, when the
shapes of its inputs are known.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

from hetero.core.tensor import Tensor
from hetero.graph import Node, Output, constant_array
from hetero.plugin import ProfilingInfo, RemoteTensor, Timer
from hetero_opencl.compile.program_cache import Segment, SegmentCache
from hetero_opencl.compile.segments import is_container
from hetero_opencl.execute.bound_program import BoundProgram
from hetero_opencl.execute.host_steps.step import HostStep
from hetero_opencl.execute.workspace import Workspace
from hetero_opencl.kernels.common.definition import host_step_of

Check = Callable[[], None]


class BoundModel:
    """The programs of a model in the workspace of a request. Not thread-safe.

    All programs of the chain, and the bodies of loops between them, share one arena: each runs only after the results
    of the one before have been copied to where they are needed. Programs that the last inference did not use keep
    their kernels, but no memory. Those that the cache drops are forgotten here too, unless they ran last.
    """

    def __init__(self, programs: SegmentCache, workspace: Workspace, is_body: bool = False) -> None:
        self._programs, self._workspace, self._is_body = programs, workspace, is_body
        self._segments: list[_BoundSegment] = []  # those that ran last, in order
        self._bound: WeakKeyDictionary[Segment, _BoundSegment] = WeakKeyDictionary()
        self._outputs: Sequence[Tensor] = ()

    @property
    def bound_programs(self) -> list[BoundProgram]:
        """The programs that ran last, in order."""
        return [segment.bound for segment in self._segments]

    def run(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor], check: Check) -> None:
        """Compute the outputs and set their shapes."""
        self.begin(inputs, outputs)
        self.launch(check)
        self.finish()
        self.download()

    def begin(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """Bind the first program, and start uploading the inputs. They must stay alive until ``finish``."""
        self._workspace.wait()
        only = self._programs.only
        if only is not None and self._segments and self._segments[0].begin_again(inputs, outputs):
            return
        self._outputs = outputs
        self._bind(0, self._programs, inputs, range(len(outputs)))

    def _bind(self, at: int, programs: SegmentCache, inputs: Sequence[Tensor], output_indices: Sequence[int]) -> None:
        """Bind the segment at index ``at`` for these inputs; its results are these outputs of the model."""
        segment, lengths = programs.segment_for(inputs)
        bound = self._bound.get(segment)
        if bound is None:
            bound = self._bound[segment] = _BoundSegment(segment, self._workspace)
        if at == 0 and not self._is_body and self._segments and self._segments[0] is not bound:
            self.free()
            self._workspace.arena.release()  # another shape may need much less
        self._segments[at:] = [bound]
        bound.bound.resize(lengths)
        bound.begin(inputs, self._outputs, output_indices)

    def launch(self, check: Check) -> None:
        """Run all programs but the last, and start the last."""
        for at in itertools.count():
            bound = self._segments[at]
            bound.bound.launch(check)
            rest, programs = bound.part.rest, bound.rest
            if rest is None or programs is None:
                break
            inputs = bound.next_inputs(rest.sources, check)
            self._bind(at + 1, programs, inputs, [bound.output_indices[i] for i in rest.results])
        for other in list(self._bound.values()) if len(self._bound) > 1 else ():
            if other not in self._segments:
                other.free()

    def finish(self) -> None:
        """Wait until the kernels have run."""
        self._segments[-1].bound.finish()

    def download(self) -> None:
        """Set the shapes of the outputs, and copy those that kernels did not write directly."""
        self._segments[-1].download()

    def free(self) -> None:
        """Free all memory but the arena."""
        for bound in [*self._segments, *self._bound.values()]:
            bound.free()

    def profile(self) -> list[ProfilingInfo]:
        """Return the times of the last inference if profiling is on."""
        return [info for segment in self._segments for info in segment.profile()]


class _BoundSegment:
    """A program bound for a request, with the tensors that it passes to the next program of the chain.

    It does not keep the segment alive, which the cache of programs may drop.
    """

    def __init__(self, segment: Segment, workspace: Workspace) -> None:
        self.part, self.rest, self._workspace = segment.part, segment.rest, workspace
        self.bound = BoundProgram(segment.program, workspace)
        bodies = {
            node: [BoundModel(body, workspace, is_body=True) for body in segment.bodies.get(node, ())]
            for node in self.part.host_steps
        }
        self._host_steps = {node: HostStep(node, models, workspace.context) for node, models in bodies.items()}
        self._times: dict[Node, Timer] = {}
        model = segment.program.program.model
        # The program sees tensors only. Sequences and optionals stay on the host: a result is a parameter unchanged.
        self._parameters = [i for i, parameter in enumerate(model.parameters) if not is_container(parameter)]
        self._results = [i for i, result in enumerate(model.results) if not is_container(result)]
        self._passed_through = [
            (i, model.inputs.index(result.input_value(0)))
            for i, result in enumerate(model.results)
            if is_container(result)
        ]
        #: The indices among the model's outputs of the results of this program and those after it.
        self.output_indices: Sequence[int] = ()
        self._inputs: Sequence[Tensor] = ()
        self._outputs: Sequence[Tensor] = ()
        self._tensors: Sequence[Tensor] = ()  # the inputs of the program
        self._given: tuple[Sequence[Tensor], Sequence[Tensor]] | None = None  # the inputs and outputs of the model
        self._carried: list[RemoteTensor] | None = None  # None while it has no memory

    def begin(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor], output_indices: Sequence[int]) -> None:
        """Bind the program, and start uploading its inputs."""
        if self._carried is None:
            create = self._workspace.context.create_tensor
            self._carried = [create(value.element_type, [0]) for value in self.part.carried]
        self.output_indices, self._inputs = output_indices, inputs
        targets = [*self._carried, *(outputs[output_indices[index]] for index in self.part.results)]
        for result, parameter in self._passed_through:
            targets[result].array[()] = inputs[parameter].array[()]
        self._outputs = [targets[index] for index in self._results]
        self._tensors = [inputs[index] for index in self._parameters]
        self.bound.bind(self._tensors, self._outputs)
        self.bound.upload(self._tensors)
        self._given = inputs, outputs

    def begin_again(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> bool:
        """Start uploading the inputs if they and the outputs are those of the last ``begin``, in the same memory.

        Sequences of tensors that may change are not the same, so only tuples are.
        """
        given = self._given
        if given is None or given[0] is not inputs or given[1] is not outputs or type(inputs) is not tuple:
            return False
        if self._passed_through or not self.bound.is_bound():
            return False
        self.bound.upload(self._tensors)
        return True

    def free(self) -> None:
        """Free all memory but the arena."""
        if self._carried is not None:
            self._carried, self._given = None, None
            self._inputs, self._outputs, self._tensors = (), (), ()
            self.bound.unbind()
            for step in self._host_steps.values():
                step.free()

    def download(self) -> None:
        self.bound.download(self._outputs)

    def next_inputs(self, sources: Sequence[Output], check: Check) -> list[Tensor]:
        """Wait for the program, run the host steps after it, and return the values that the next program takes."""
        self.bound.finish()
        self.download()
        values: dict[Output, Tensor] = dict(zip(self.bound.program.model.inputs, self._inputs))
        values.update(zip(self.part.carried, self._carried or ()))
        for node, step in self._host_steps.items():
            check()
            step.check = check
            with self._times.setdefault(node, Timer()):
                tensors = [
                    values[value] if (data := constant_array(value)) is None else Tensor(data)
                    for value in node.input_values()
                ]
                values.update(zip(node.outputs(), host_step_of(node)(step, tensors)))
        return [values[source] for source in sources]

    def profile(self) -> list[ProfilingInfo]:
        if not self._workspace.is_profiled:
            return []
        steps = [
            ProfilingInfo(node.friendly_name, node.type_info.name, "host", timer.real_time, timer.cpu_time)
            for node, timer in self._times.items()
        ]
        return [*self.bound.profile(), *steps]
