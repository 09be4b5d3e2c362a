"""Variables that grow: appended to in place, their contents as TEMPLATE's, whatever is done to them in between."""

import numpy as np
import pytest
from hetero_opencl.compile.variable_ports import find_growing

import hetero
from hetero import Model, Parameter, PartialShape, Tensor, Type, ops
from hetero.graph import Variable, VariableInfo
from hetero.system.errors import DeviceError
from tests.benchmarks.llama_models import Llama

CORE = hetero.Core()


class Decoder:
    """A decoder on several devices, which are fed the same."""

    def __init__(self, *devices: str) -> None:
        model = Llama(words=300, width=64, layers=2, heads=4, hidden=96).model()
        self.requests = [CORE.compile_model(model, name).create_infer_request() for name in devices]
        self._draw, self._place = np.random.default_rng(0), 0

    def reset(self) -> None:
        for request in self.requests:
            request.reset_state()
        self._place = 0

    def step(self, beams: list[int], words: int = 1) -> None:
        """Write words, and compare the logits."""
        batch = len(beams)
        feeds = {
            "input_ids": self._draw.integers(0, 300, (batch, words)),
            "position_ids": np.tile(np.arange(self._place, self._place + words), (batch, 1)),
            "beam_idx": np.array(beams, np.int32),
        }
        first, *others = [np.array(request.infer(feeds)[0]) for request in self.requests]
        for other in others:
            np.testing.assert_allclose(first, other, atol=5e-5)
        self._place += words

    def compare_states(self) -> None:
        first, *others = [{s.name: s.state.data for s in request.query_state()} for request in self.requests]
        for other in others:
            for name, array in first.items():
                np.testing.assert_allclose(array, other[name], atol=5e-5)


def plugin_states(plugin_request, request):
    return plugin_request(request).query_state()


def test_words_are_appended_in_place(device, plugin_request):
    decoder = Decoder(device, "TEMPLATE")
    decoder.step([0], 20)
    states = plugin_states(plugin_request, decoder.requests[0])
    memory = [state.current.memory for state in states]
    buffers = [each.buffer for each in memory]
    for _ in range(19):
        decoder.step([0])
    assert [state.current.memory for state in states] == memory
    assert [each.buffer for each in memory] == buffers  # there was room for 40 words
    decoder.step([0], 3)
    assert all(each.buffer is not before for each, before in zip(memory, buffers))
    decoder.compare_states()


def test_no_launch_copies_a_variable(device, plugin_request):
    decoder = Decoder(device)
    decoder.step([0], 50)
    decoder.step([0])
    (bound,) = plugin_request(decoder.requests[0]).bound_model.bound_programs
    program = bound.program
    states = set(program.inputs[3:-1])  # the last one is the items
    assert states and not states & {buffer for launch in program.launches for buffer in launch.buffers()}
    written = set(program.outputs[1:])
    assert written <= set(bound._sets[0].bindings.memory) and not bound._sets[0].bindings.copies_after


def test_beams(device, plugin_request):
    """Items of the batch go on in any order, several times or not at all; the batch may become larger or smaller."""
    decoder = Decoder(device, "TEMPLATE")
    decoder.step([0], 9)
    for beams in ([0, 0, 0, 0], [0, 1, 2, 3], [3, 1, 1, 0], [3, 1, 1, 0], [0, 1, 2, 3], [2, 2], [0, 1], [1]):
        decoder.step(beams)
        decoder.compare_states()


def test_variables_that_are_set_and_reset(device):
    decoder = Decoder(device, "TEMPLATE")
    decoder.step([0, 1], 12)
    decoder.step([1, 0])
    kept = {state.name: np.array(state.state.data) for state in decoder.requests[1].query_state()}
    decoder.step([0, 1], 4)
    for request in decoder.requests:
        for state in request.query_state():
            state.state = Tensor(np.ascontiguousarray(kept[state.name][:, :, :7]))
    decoder.step([1, 1])
    decoder.compare_states()
    decoder.reset()
    decoder.step([0, 1, 2], 5)
    decoder.step([0, 1, 2])
    decoder.compare_states()


def test_a_failure_leaves_the_variables_as_they_were(device, monkeypatch, plugin_request):
    """Also if the items of the batch were chosen already."""
    decoder = Decoder(device, "TEMPLATE")
    decoder.step([0, 1, 2], 8)
    request = plugin_request(decoder.requests[0])
    monkeypatch.setattr(request, "start", lambda: 1 / 0)
    ids, places = np.zeros((3, 1), np.int64), np.full((3, 1), 8)
    with pytest.raises(DeviceError, match="division by zero"):
        decoder.requests[0].infer({"input_ids": ids, "position_ids": places, "beam_idx": np.int32([2, 0, 1])})
    monkeypatch.undo()
    decoder.compare_states()
    decoder.step([2, 0, 1])
    decoder.compare_states()


def test_memory_that_ends(device, limit_growth):
    decoder = Decoder(device, "TEMPLATE")
    decoder.step([0], 8)
    limit_growth(17 * 64 * 4)
    feeds = {"input_ids": np.zeros((1, 20), np.int64), "position_ids": np.arange(20)[None], "beam_idx": np.int32([0])}
    message = "'key.0' cannot grow to the length 28, which takes 7168 bytes: allocating failed"
    with pytest.raises(DeviceError, match=message):
        decoder.requests[0].infer(feeds)
    decoder.compare_states()
    decoder.reset()
    decoder.step([0], 4)
    decoder.step([0])
    decoder.compare_states()


def window(kind: Type, axis: int, order: str) -> Model:
    """Return a model of one variable that grows along an axis, at its end or not, and is read in other ways too."""
    shape = [2, 3, 4]
    shape[axis] = -1
    x = Parameter(kind, shape)
    empty = [0 if length == -1 else length for length in shape]
    variable = Variable(VariableInfo("v", kind, PartialShape(shape)))
    read = ops.ReadValue(np.zeros(empty, kind.to_dtype()), variable)
    parts = {"old first": [read, x], "new first": [x, read], "twice": [read, x, x], "old twice": [read, read, x]}[order]
    grown = ops.Concat(parts, axis)
    results = [ops.ReduceSum(grown, np.array([axis]), False), ops.ShapeOf(read)]
    return Model(results, [ops.Assign(grown, variable)], [x])


@pytest.mark.parametrize("order", ["old first", "new first", "twice", "old twice"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("kind", [Type.f32, Type.i8])
def test_axes_types_and_orders(device, kind, axis, order):
    model = window(kind, axis, order)
    assert bool(find_growing(model)) == (order in ("old first", "twice"))
    request, reference = (CORE.compile_model(model, name).create_infer_request() for name in (device, "TEMPLATE"))
    draw = np.random.default_rng(0)
    for length in (2, 1, 3, 0, 1):
        shape = [2, 3, 4]
        shape[axis] = length
        array = draw.integers(-3, 4, shape).astype(kind.to_dtype())
        found, wanted = request.infer([array]), reference.infer([array])
        for index in range(2):
            np.testing.assert_array_equal(found[index], wanted[index])
        (state,), (other,) = request.query_state(), reference.query_state()
        np.testing.assert_array_equal(state.state.data, other.state.data)
