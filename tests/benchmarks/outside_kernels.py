"""Time of an inference on the OpenCL devices outside of kernels: launches, copies of inputs and outputs, binding.

It is the time of an inference minus the sum of the times of its kernels in an inference on a queue that measures them;
both are the minimum of many. The kernels of a loop's body count as in its last iteration.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pyopencl as cl
from hetero_opencl.execute.bound_model import BoundModel

from hetero import (
    CompiledModel,
    Constant,
    Core,
    InferRequest,
    Model,
    Node,
    Output,
    Parameter,
    PartialShape,
    Tensor,
    Type,
    ops,
)
from hetero.graph import VariableInfo
from hetero.plugin import RemoteContext
from tests import zoo
from tests.benchmarks.interleaved import Comparison
from tests.devices import GPUS

NETWORKS = ("squeezenet", "alexa", "hey_jarvis", "hey_mycroft", "okay_nabu")
INFERENCES = 200
# The decoder: layers, width, heads, length of the caches.
LAYERS, WIDTH, HEADS, LENGTH = 12, 64, 4, 32
# The search: iterations, beams, size of the state and of the vocabulary.
ITERATIONS, BEAMS, STATE, WORDS = 20, 4, 16, 32


def compare() -> Iterator[Comparison]:
    core = Core()
    for name in NETWORKS:
        yield _on_all_devices(core, name, core.read_model(zoo.path(name)), zoo.inputs(name))
    caches = {index: np.ones([1, HEADS, LENGTH, WIDTH // HEADS], np.float32) for index in range(1, 2 * LAYERS + 1)}
    token = {0: np.ones([1, 1, WIDTH], np.float32)}
    yield _on_all_devices(core, "decoder step, caches on the host", _decoder(is_stateful=False), token | caches)
    yield _on_all_devices(core, "decoder step, caches on the device", _decoder(is_stateful=False), token, caches)
    yield _on_all_devices(core, "decoder step, variables", _decoder(is_stateful=True), token)
    start = {0: np.ones([BEAMS, STATE], np.float32)}
    for grows, task in ((False, "an iteration of a search"), (True, "an iteration of a search that grows")):
        yield _on_all_devices(core, task, _search(grows), start, per=ITERATIONS)


def _on_all_devices(
    core: Core,
    task: str,
    model: Model,
    feeds: Mapping[str | int, np.ndarray],
    caches: Mapping[int, np.ndarray] | None = None,
    per: int = 1,
) -> Comparison:
    """Measure a model on each OpenCL device. ``caches`` are inputs in device memory, by index; so are their outputs.

    An output of one inference is the input of the next one, and the other way round.
    """
    found = {}
    for device in GPUS:
        # PERF_COUNT would keep launches from being merged.
        plain, profiled = (
            _inference(core.compile_model(model, where), feeds, caches or {})
            for where in (device, _profiled_context(core, device))
        )
        seconds, kernel_seconds = [], []
        for _ in range(INFERENCES):
            started = time.perf_counter()
            plain()
            seconds.append(time.perf_counter() - started)
            kernel_seconds.append(_kernel_seconds(profiled(), iterations=per))
        found[device] = (min(seconds) - min(kernel_seconds)) / per
    return Comparison(task, found)


def _profiled_context(core: Core, device: str) -> RemoteContext:
    """Return a context that runs everything in a queue that measures the time of each command."""
    context = core.get_default_context(device).get_params()["OCL_CONTEXT"]
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    return core.create_context(device, {"OCL_QUEUE": queue})


def _kernel_seconds(request: InferRequest, iterations: int) -> float:
    """Return the seconds of all kernels of the last inference, of which each loop ran this number of iterations."""
    model = request._request.request.bound_model  # type: ignore[attr-defined]  # it is a request of GPU
    steps = [step for segment in model._segments for step in segment._host_steps.values()]
    bodies = [body for step in steps for body in step.bodies]
    return _seconds_of_launches(model) + iterations * sum(map(_seconds_of_launches, bodies))


def _seconds_of_launches(model: BoundModel) -> float:
    """Return the seconds of the launches that ran last. Profiling information has whole microseconds only."""
    events = [event for program in model.bound_programs for _, event in program.launched]
    return sum((event.profile.end - event.profile.start) * 1e-9 for event in events)


def _inference(
    compiled: CompiledModel, feeds: Mapping[str | int, np.ndarray], caches: Mapping[int, np.ndarray]
) -> Callable[[], InferRequest]:
    """Return a function that runs an inference and returns the request."""
    request = compiled.create_infer_request()
    pairs = [_device_tensors(compiled.get_context(), array) for array in caches.values()]

    def infer() -> InferRequest:
        for index, pair in enumerate(pairs, 1):
            request.set_input_tensor(index, pair[0])
            request.set_output_tensor(index, pair[1])
            pair.reverse()
        request.infer(feeds, share_inputs=True, share_outputs=True)
        return request

    return infer


def _device_tensors(context: RemoteContext, array: np.ndarray) -> list[Tensor]:
    tensors = [context.create_tensor(Type(array.dtype), array.shape) for _ in range(2)]
    tensors[0].copy_from(array)
    return tensors


def _decoder(is_stateful: bool) -> Model:
    """Return a step of a decoder: attention to caches of fixed length, from which the oldest position is dropped.

    The keys and values are inputs and outputs, two per layer, or variables.
    """
    x = Parameter(Type.f32, [1, 1, WIDTH])
    parameters, results, sinks = [x], [], []
    shape = [1, HEADS, LENGTH, WIDTH // HEADS]
    value: Node = x
    for layer in range(LAYERS):
        query, *new = (_split_heads(_linear(value, WIDTH)) for _ in range(3))
        caches = []
        for name, position in zip(("key", "value"), new):
            if is_stateful:
                info = VariableInfo(PartialShape(shape), Type.f32, f"{name} {layer}")
                old: Node = ops.ReadValue(np.zeros(shape, np.float32), info)
            else:
                old = Parameter(Type.f32, shape)
                parameters.append(old)
            kept = ops.Slice(old, np.int64([1]), np.int64([LENGTH]), np.int64([1]), np.int64([2]))
            caches.append(ops.Concat([kept, position], 2))
            if is_stateful:
                sinks.append(ops.Assign(caches[-1], info))
            else:
                results.append(caches[-1])
        scores = ops.Softmax(ops.MatMul(query, caches[0], False, True), 3)
        heads = ops.Transpose(ops.MatMul(scores, caches[1], False, False), np.int64([0, 2, 1, 3]))
        value = ops.Add(value, _linear(ops.Reshape(heads, np.int64([1, 1, WIDTH]), False), WIDTH))
        value = ops.Add(value, _linear(ops.Relu(_linear(value, 2 * WIDTH)), WIDTH))
    return Model([value, *results], parameters, "decoder", sinks=sinks)


def _linear(value: Node, width: int) -> Node:
    return ops.MatMul(value, np.full((value.shape[-1], width), 0.01, np.float32), False, False)


def _split_heads(value: Node) -> Node:
    heads = ops.Reshape(value, np.int64([1, 1, HEADS, WIDTH // HEADS]), False)
    return ops.Transpose(heads, np.int64([0, 2, 1, 3]))


def _search(grows: bool) -> Model:
    """Return a beam search that carries the words chosen so far, in a tensor of fixed length or one that grows."""
    x = Parameter(Type.f32, [BEAMS, STATE])
    state, scores, number = (
        Parameter(Type.f32, [BEAMS, STATE]),
        Parameter(Type.f32, [BEAMS, 1]),
        Parameter(Type.i64, []),
    )
    words = Parameter(Type.i64, [BEAMS, -1 if grows else ITERATIONS])
    after = ops.Tanh(_linear(state, STATE))
    totals = ops.Reshape(ops.Add(ops.LogSoftmax(_linear(after, WORDS), 1), scores), np.int64([-1]), False)
    best = ops.TopK(totals, np.int64(BEAMS), 0, "max", "value", Type.i64)
    beam, word = ops.Divide(best.output(1), np.int64(WORDS)), ops.Mod(best.output(1), np.int64(WORDS))
    old, new = ops.Gather(words, beam, np.int64(0)), ops.Unsqueeze(word, np.int64(1))
    if grows:
        chosen: Node = ops.Concat([old, new], 1)
    else:
        places = ops.Equal(Constant(np.arange(ITERATIONS)), number)
        chosen = ops.Select(places, new, old)
    goes_on = ops.Less(number, np.int64(ITERATIONS - 1))
    outputs: list[Node | Output] = [
        goes_on, ops.Gather(after, beam, np.int64(0)), ops.Unsqueeze(best.output(0), np.int64(1)), chosen,
    ]  # fmt: skip
    body = Model(outputs, [number, state, scores, words], "body")
    node = ops.Loop(np.int64(ITERATIONS), np.bool_(True))
    node.set_function(body)
    node.set_special_body_ports([0, 0])
    first = np.zeros((BEAMS, 0 if grows else ITERATIONS), np.int64)
    for parameter, initial, result in zip(
        body.parameters[1:], (x, Constant(np.zeros((BEAMS, 1), np.float32)), Constant(first)), body.results[1:]
    ):
        node.set_merged_input(parameter, initial.output(0), result.output(0))
    return Model([node.get_iter_value(result.output(0), -1) for result in body.results[2:]], [x], "search")


if __name__ == "__main__":
    for comparison in compare():
        print("\n".join(comparison.lines()), flush=True)
