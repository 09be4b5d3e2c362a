"""Random programs with variables on random devices and cuts, in random orders of calls, against a model in Python."""

from random import Random

import numpy as np
import pytest

import hetero
from hetero.dispatch.cutting.plan import StepError
from hetero.dispatch.execution.bound_step import BoundStep
from hetero.graph import is_terminal, walk_nested
from hetero.system.errors import CancelledError, DeviceError
from tests.devices import ALL_KINDS
from tests.dispatch.random_variables import Generator, model_of
from tests.tiers import IS_FULL

OTHERS = [device for device in ALL_KINDS if device != "TEMPLATE"]
pytestmark = pytest.mark.own_sample


class Fault:
    """Cancels an inference, or lets a device fail, at the start of one of its steps."""

    def __init__(self, monkeypatch) -> None:
        self._action, self._steps = None, 0
        advance = BoundStep.advance

        def advance_or_fail(step, stages, is_first=True, **options):
            if is_first and self._action is not None:
                if self._steps == 0:
                    action, self._action = self._action, None
                    action(step)
                self._steps -= 1
            advance(step, stages, is_first, **options)

        monkeypatch.setattr(BoundStep, "advance", advance_or_fail)

    def arm(self, action, steps: int) -> None:
        """Call ``action(step)`` after this number of steps."""
        self._action, self._steps = action, steps

    def disarm(self) -> bool:
        """Return whether it has struck."""
        struck, self._action = self._action is None, None
        return struck


class Checked:
    """A request, and the contents that its variables should have."""

    def __init__(self, program, model, request, has_snapshots: bool, fault: Fault) -> None:
        self._program, self._request = program, request
        self._rows = {v.info.variable_id: v.info.data_shape[0] for v in model.variables}
        self._is_dynamic = model.inputs[-1].partial_shape.is_dynamic
        self._has_snapshots, self._fault = has_snapshots, fault
        self.contents = {}

    def infer(self, random: Random) -> None:
        inputs = self._inputs(random)
        expected = self._program.run([np.asarray(a) for a in inputs], self.contents)
        self._check_results(self._call(random, inputs), expected)

    def infer_with_fault(self, random: Random) -> None:
        """An inference that is cancelled, or in which a device fails: another one may take over."""
        inputs, after = self._inputs(random), dict(self.contents)
        expected = self._program.run([np.asarray(a) for a in inputs], after)
        self._fault.arm(random.choice([self._cancel, _fail]), random.randint(0, 4))
        try:
            results = self._call(random, inputs)
        except (CancelledError, DeviceError) as error:
            assert self._fault.disarm(), error
            self._find_contents(after)
        else:
            self._fault.disarm()
            self.contents = after
            self._check_results(results, expected)

    def _cancel(self, step) -> None:
        self._request.cancel()

    def _call(self, random: Random, inputs) -> list[np.ndarray]:
        if random.random() < 0.5:
            return [np.array(array) for array in self._request.infer(inputs).to_tuple()]
        self._request.start_async(inputs)
        self._request.wait()
        return [np.array(tensor.data) for tensor in self._request.output_tensors]

    def reset(self, random: Random) -> None:
        if random.random() < 0.5:
            self.contents.clear()
            self._request.reset_state()
            return
        state = random.choice(self._request.query_state())
        self.contents.pop(state.name, None)
        state.reset()

    def set(self, random: Random) -> None:
        state = random.choice(self._request.query_state())
        rows = self._rows[state.name]
        array = _numbers(random, rows.get_length() if rows.is_static else random.randint(1, 3))
        self.contents[state.name] = array.copy()
        state.state = hetero.Tensor(array, shared_memory=True)
        array[...] = 99

    def check(self) -> None:
        """Check the contents of all variables, which read as zeros of the smallest shape if they have none."""
        for state in self._request.query_state():
            expected = self.contents.get(state.name, self._empty(state.name))
            np.testing.assert_array_equal(state.state.data, expected, err_msg=state.name)

    def _find_contents(self, after) -> None:
        """Without snapshots, a variable may be assigned although the inference did not end."""
        for state in () if self._has_snapshots else self._request.query_state():
            found, name = state.state.data, state.name
            before = self.contents.get(name)
            empty = self._empty(name)
            if not np.array_equal(found, empty if before is None else before):
                np.testing.assert_array_equal(found, after[name])
                self.contents[name] = after[name]
            elif before is None and np.array_equal(after.get(name), empty):
                state.reset()  # both look alike

    def _empty(self, name: str) -> np.ndarray:
        return np.zeros([self._rows[name].min_length, 2])

    def _check_results(self, results, expected) -> None:
        for found, wanted in zip(results, expected, strict=True):
            np.testing.assert_array_equal(found, wanted)

    def _inputs(self, random: Random) -> dict:
        rows = random.randint(1, 3) if self._is_dynamic else 1
        return [_numbers(random, 1), np.int64(random.choice([0, 0, 1, 2, 3])), _numbers(random, rows)]


def _fail(step) -> None:
    raise StepError(step.step.device, DeviceError("injected"))


def _numbers(random: Random, rows: int) -> np.ndarray:
    return np.float32([[random.randint(-9, 9) for _ in range(2)] for _ in range(rows)]).reshape(rows, 2)


def placed_randomly(core, model, random: Random) -> tuple[str, dict]:
    """Return a list of devices with TEMPLATE for this model, and pins for some of the operations without variables."""
    devices = random.sample(OTHERS, random.randint(0, len(OTHERS)))
    devices.insert(random.randint(0, len(devices)), "TEMPLATE")
    able = {device: core.query_model(model, device) for device in devices}
    pins = {}
    for node in model.get_ordered_ops():
        has_variables = any(hasattr(inner, "variable_info") for inner in walk_nested([node]))
        if is_terminal(node) or has_variables or random.random() < 0.4:
            continue
        pins[node.friendly_name] = random.choice([d for d in devices if node.friendly_name in able[d]])
    return f"HETERO:{','.join(devices)}", pins


@pytest.mark.parametrize("seed", range(320 if IS_FULL else 16))
def test_variables_are_those_of_the_definition(seed, monkeypatch):
    random, core = Random(seed), hetero.Core()
    names = ["v", "w", "u"][: random.randint(1, 3)]
    is_dynamic = random.random() < 0.25
    shape = [-1 if is_dynamic else 1, 2]
    program = Generator(random, names, has_bodies=random.random() < 0.6, is_dynamic=is_dynamic).program()
    model = model_of(program, shape)
    device, pins = placed_randomly(core, model, random)
    config = {"AFFINITIES": pins} if pins else {}
    has_snapshots = random.random() < 0.5
    if has_snapshots:
        config["VARIABLE_SNAPSHOTS"] = True
    compiled = core.compile_model(model, device, config)
    if random.random() < 0.2:
        compiled = core.import_model(compiled.export_model(), device, {"VARIABLE_SNAPSHOTS": has_snapshots})
    fault = Fault(monkeypatch)
    requests = [Checked(program, model, compiled.create_infer_request(), has_snapshots, fault) for _ in range(2)]
    assert {state.name for state in compiled.create_infer_request().query_state()} == {
        variable.info.variable_id for variable in model.variables
    }
    for _ in range(14):
        request = random.choice(requests)
        action = random.choice(["infer", "infer", "infer", "infer_with_fault", "reset", "set"])
        if action in ("reset", "set") and not model.variables:
            continue
        getattr(request, action)(random)
        for each in requests:
            each.check()
