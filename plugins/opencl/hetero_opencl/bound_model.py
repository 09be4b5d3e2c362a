"""One request's run of a model, program after program: each is bound when the one before has told what it needs."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from datetime import timedelta

from hetero.graph import Node, Output, is_constant
from hetero.plugin import ProfilingInfo
from hetero.tensor import Tensor
from hetero_opencl.host_steps import HostStep
from hetero_opencl.kernels.registry import find_host_step
from hetero_opencl.memory import Arena
from hetero_opencl.program import BoundProgram
from hetero_opencl.program_cache import ProgramCache, Segment
from hetero_opencl.remote import OpenCLContext
from hetero_opencl.segments import is_container

Check = Callable[[], None]


class BoundModel:
    """The programs that a request ran last. Not for two threads at once.

    They have their memory in the same arena, and so do the bodies that run between them: none runs before the results
    of the one before it are where they are wanted.
    """

    def __init__(
        self, programs: ProgramCache, context: OpenCLContext, profiled: bool, arena: Arena | None = None
    ) -> None:
        self._programs = programs
        self._arena, self._owns_arena = arena or Arena(context.device), arena is None
        self._context, self._profiled = context, profiled
        self._links: list[_Link] = []
        self._outputs: Sequence[Tensor] = ()

    def run(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor], check: Check) -> None:
        """Compute the outputs, which take the shapes that they get."""
        self.begin(inputs, outputs)
        self.launch(check)
        self.finish()
        self.download()

    def begin(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """Bind the first program, and begin to upload the inputs; their memory is needed until ``finish``."""
        for link in self._links:
            link.bound.settle()
        self._outputs = outputs
        self._bind(0, self._programs, inputs, range(len(outputs)))

    def _bind(self, at: int, programs: ProgramCache, inputs: Sequence[Tensor], places: Sequence[int]) -> None:
        """Make the link at a place ready for inputs; its results go to these places among the outputs."""
        segment = programs.segment_for(inputs)
        if at == len(self._links) or self._links[at].segment is not segment:
            del self._links[at:]
            if at == 0 and self._owns_arena:
                self._arena.release()  # another shape may need much less
            self._links.append(_Link(segment, self._context, self._profiled, self._arena))
        self._links[at].begin(inputs, self._outputs, places)

    def launch(self, check: Check) -> None:
        """Begin to run the last program, when those before it have run."""
        for at in itertools.count():
            link = self._links[at]
            link.bound.launch(check)
            rest = link.segment.rest
            if rest is None:
                del self._links[at + 1 :]
                return
            inputs = link.hand_on(check)
            self._bind(at + 1, rest, inputs, [link.places[i] for i in link.segment.part.rest.results])

    def finish(self) -> None:
        """Wait until the kernels have run."""
        self._links[-1].bound.finish()

    def download(self) -> None:
        """Give the outputs their shapes, and copy those that kernels did not write to themselves."""
        self._links[-1].download()

    def profile(self) -> list[ProfilingInfo]:
        """What the last inference spent its time on, when that was profiled."""
        return [info for link in self._links for info in link.profile()]


class _Link:
    """A program bound for a request, with the tensors that are handed on to the next one."""

    def __init__(self, segment: Segment, context: OpenCLContext, profiled: bool, arena: Arena) -> None:
        self.segment, self._context, self._profiled = segment, context, profiled
        self.bound = BoundProgram(segment.program, context, profiled, arena)
        self._carried = [context.create_tensor(value.element_type, [0]) for value in segment.part.carried]
        self._steps = {node: self._step(node, arena) for node in segment.part.host_steps}
        self._times: dict[Node, timedelta] = {}
        model = segment.program.model
        # The ports that the program sees, and of sequences the results with the parameters that they hand through.
        self._parameters = [i for i, parameter in enumerate(model.parameters) if not is_container(parameter)]
        self._results = [i for i, result in enumerate(model.results) if not is_container(result)]
        self._handed_through = [
            (i, model.inputs.index(result.input_value(0)))
            for i, result in enumerate(model.results)
            if is_container(result)
        ]
        #: Where the results of this program, and of those after it, are among the outputs of the model.
        self.places: Sequence[int] = ()

    def _step(self, node: Node, arena: Arena) -> HostStep:
        bodies = self.segment.bodies.get(node, ())
        bound = [BoundModel(body, self._context, False, arena) for body in bodies]
        return HostStep(node, bound, self._context)

    def begin(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor], places: Sequence[int]) -> None:
        self.places, self._inputs = places, inputs
        targets = [*self._carried, *(outputs[places[index]] for index in self.segment.part.results)]
        for result, parameter in self._handed_through:
            targets[result].data[()] = inputs[parameter].data[()]
        self._outputs = [targets[index] for index in self._results]
        seen = [inputs[index] for index in self._parameters]
        self.bound.bind(seen, self._outputs)
        self.bound.upload(seen)

    def download(self) -> None:
        self.bound.download(self._outputs)

    def hand_on(self, check: Check) -> list[Tensor]:
        """Wait for the program, run what the host does after it, and return the inputs of the next one."""
        self.bound.finish()
        self.download()
        values: dict[Output, Tensor] = dict(zip(self.bound.program.model.inputs, self._inputs))
        values.update(zip(self.segment.part.carried, self._carried))
        for node, step in self._steps.items():
            check()
            step.check = check
            started = time.perf_counter()
            tensors = [Tensor(v.node.data) if is_constant(v) else values[v] for v in node.input_values()]
            values.update(zip(node.outputs(), find_host_step(node)(step, tensors)))
            self._times[node] = timedelta(seconds=time.perf_counter() - started)
        return [values[source] for source in self.segment.part.rest.sources]

    def profile(self) -> list[ProfilingInfo]:
        if not self._profiled:
            return []
        steps = [
            ProfilingInfo(node.friendly_name, node.type_info.name, "host", spent) for node, spent in self._times.items()
        ]
        return [*self.bound.profile(), *steps]
