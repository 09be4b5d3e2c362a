"""CostDatabase: values are stored and shared between models, and damaged files are ignored."""

import json
import logging
import threading

import numpy as np
import pytest

from hetero import Model, Parameter, Type, ops
from hetero.dispatch.cost.benchmark import DeviceBenchmark
from hetero.dispatch.cost.database import CostDatabase, OperationTimes, model_key, operation_key
from hetero.dispatch.devices import ListedDevice
from hetero.ops.work_estimate import assumed_shapes
from tests.devices import PickyPlugin, core_with


@pytest.fixture
def device():
    plugin, options = core_with(A=PickyPlugin()).resolve_device("A")
    return ListedDevice("A", plugin, options)


FIGURES = DeviceBenchmark(1e9, 2e9, 3e9, 4e9, 5e9, 1e-6, 1e-4)
TIMES = OperationTimes({"Relu": 1e-3, "Exp": 0.0}, 2e-4)


def test_values_are_read_as_written(tmp_path, device):
    kept = CostDatabase(tmp_path / "new")
    assert kept.benchmark(device) is None
    assert kept.operation_times(device, "m") == OperationTimes()
    assert kept.input_shapes("m") == {}
    kept.write_benchmark(device, FIGURES)
    kept.write_operation_times(device, "m", TIMES)
    kept.write_input_shapes("m", [(1, 3), ()])
    again = CostDatabase(str(tmp_path / "new"))
    assert again.benchmark(device) == FIGURES
    assert again.operation_times(device, "m") == TIMES
    assert again.input_shapes("m") == {0: (1, 3), 1: ()}


def test_other_models_use_the_times_and_own_times_win(tmp_path, device):
    measured = CostDatabase(tmp_path)
    measured.write_operation_times(device, "m", TIMES)
    measured.write_operation_times(device, "n", OperationTimes({"Relu": 3e-3, "Tanh": 4e-3}, 1.0))
    assert measured.operation_times(device, "m").seconds == {"Relu": 1e-3, "Exp": 0.0, "Tanh": 4e-3}
    assert measured.operation_times(device, "m").subgraph == 2e-4
    other = measured.operation_times(device, "other")
    assert other.seconds == {"Relu": 2e-3, "Exp": 0.0, "Tanh": 4e-3}
    assert other.subgraph is None


def test_devices_and_precisions_have_times_of_their_own(tmp_path, device):
    measured = CostDatabase(tmp_path)
    measured.write_operation_times(device, "m", TIMES)
    plugin, options = core_with(B=PickyPlugin()).resolve_device("B")
    for other in (
        ListedDevice("B", plugin, options),
        ListedDevice("A", device.plugin, {**device.options, "INFERENCE_PRECISION_HINT": "f32"}),
    ):
        assert measured.operation_times(other, "m").seconds == {}


def changed(**changes):
    return lambda text: json.dumps(json.loads(text) | changes)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: "[]",
        lambda text: "[" * 100_000,
        lambda text: text.replace("0.001", "NaN"),
        lambda text: text.replace("0.001", "-1"),
        lambda text: text.replace("0.001", '"soon"'),
        lambda text: text.replace("0.001", "1e999"),
        lambda text: text.replace("0.001", "1" + "0" * 400),
        changed(format=0),
        changed(format="1"),
        changed(operations=[1, 2]),
        changed(operations=None),
    ],
)
def test_damaged_files_are_ignored_with_one_warning(tmp_path, device, caplog, damage):
    measured = CostDatabase(tmp_path)
    measured.write_operation_times(device, "m", TIMES)
    (file,) = tmp_path.glob("*.json")
    file.write_text(damage(file.read_text()))
    with caplog.at_level(logging.WARNING, "hetero"):
        for _ in range(3):
            assert measured.operation_times(device, "m") == OperationTimes()
    (record,) = caplog.records
    assert str(file) in record.getMessage()
    measured.write_operation_times(device, "m", TIMES)
    assert measured.operation_times(device, "m") == TIMES


@pytest.mark.parametrize(
    "content",
    [
        {"figures": {"speed": 1.0}}, {"figures": {"bytes": 0.0}}, {"figures": {"bytes": 1e-300}},
        {"figures": {"bytes": 10**400}}, {"shapes": [[-1]]}, {"shapes": [[10**10] * 40]}, {},
    ],
)  # fmt: skip
def test_files_with_other_contents_are_ignored(tmp_path, device, caplog, content):
    measured = CostDatabase(tmp_path)
    measured.write_benchmark(device, FIGURES)
    measured.write_input_shapes("m", [(1, 3)])
    for file in tmp_path.glob("*.json"):
        file.write_text(json.dumps({"format": 1} | content))
    assert measured.benchmark(device) is None
    assert measured.input_shapes("m") == {}


@pytest.mark.parametrize("name", ["file", "x" * 300])
def test_a_folder_that_cannot_be_used_is_no_error(name, tmp_path, device, caplog):
    (tmp_path / "file").write_text("")
    measured = CostDatabase(tmp_path / name)
    measured.write_benchmark(device, FIGURES)
    assert measured.benchmark(device) is None
    assert measured.state() == CostDatabase(tmp_path / "empty").state()
    assert "is not used" in caplog.text


def test_several_writers_and_readers(tmp_path, device):
    """Readers see one complete version."""
    seen, stop = [], threading.Event()

    def write(number):
        for _ in range(50):
            times = {str(key): float(number) for key in range(200)}
            CostDatabase(tmp_path).write_operation_times(device, "m", OperationTimes(times))

    def read():
        while not stop.is_set():
            seen.append(set(CostDatabase(tmp_path).operation_times(device, "m").seconds.values()))

    reader = threading.Thread(target=read)
    reader.start()
    writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    stop.set()
    reader.join()
    assert all(len(values) <= 1 for values in seen)
    assert any(seen)
    assert len(list(tmp_path.iterdir())) == 1


def relu(*shape, kind=Type.f32):
    return ops.Relu(Parameter(kind, list(shape)))


def key_of(node):
    model = Model([node], [value.node for value in node.input_values() if isinstance(value.node, Parameter)])
    return operation_key(node, assumed_shapes(model))


def test_keys_tell_operations_apart():
    weights = np.zeros((4, 4), np.float32)
    different = [
        relu(4, 4),
        relu(4, 5),
        relu(4, 4, kind=Type.f16),
        ops.Exp(Parameter(Type.f32, [4, 4])),
        ops.Softmax(Parameter(Type.f32, [4, 4]), 0),
        ops.Softmax(Parameter(Type.f32, [4, 4]), 1),
        ops.MatMul(Parameter(Type.f32, [4, 4]), weights, False, False),
        ops.MatMul(Parameter(Type.f32, [4, 4]), Parameter(Type.f32, [4, 4]), False, False),
    ]
    assert len({key_of(node) for node in different}) == len(different)
    assert key_of(relu(4, 4)) == key_of(relu(4, 4))


def test_keys_tell_models_apart():
    def model(kind, *shape):
        x = Parameter(Type.f32, list(shape))
        return Model(kind(x), [x])

    keys = {model_key(model(*case)) for case in ((ops.Relu, 1, 2), (ops.Exp, 1, 2), (ops.Relu, -1, 2))}
    assert len(keys) == 3
    assert model_key(model(ops.Relu, 1, 2)) in keys
