"""Tuning: measured times take the place of estimates, and a file that does not fit is left out with one warning."""

import json
import logging

import numpy as np
import pytest

from hetero import Constant, Core, Model, Parameter, Type, ops
from hetero.system.errors import NotSupportedError
from tests.devices import GPUS

GENERATOR = np.random.default_rng(0)


@pytest.fixture(autouse=True, params=[None])
def processor():
    """Only with the kernels of the device: tuning does not depend on what they are."""


@pytest.fixture
def model() -> Model:
    x = Parameter(Type.f32, [1, 32, 9, 9])
    filters = Constant(GENERATOR.standard_normal((32, 32, 3, 3)).astype(np.float32))
    return Model(ops.Relu(ops.Convolution(x, filters, [1, 1], [1, 1], [1, 1], [1, 1])), [x])


def compiled(model, **options):
    found = Core().compile_model(model, GPUS[0], options)
    return found, found([np.ones([1, 32, 9, 9], np.float32)])[0]


def chosen(found) -> set:
    """Return the implementation, the configuration and whether it was measured, of each operation."""
    reports = [program.lowering_report for program in found._compiled.last_programs()]
    choices = [choice for report in reports for choice in report.chosen.values()]
    return {(one.implementation.name, tuple(one.configuration.items()), one.is_measured) for one in choices}


def test_the_measured_configuration_is_used(model, tmp_path):
    plain, expected = compiled(model)
    file, calls = tmp_path / "tuning.json", []
    assert plain.tune(file, lambda *call: calls.append(call)) == file
    assert [call[1:] for call in calls] == [(0, 1)]
    content = json.loads(file.read_text())
    (measured,) = content["operations"].values()
    assert all(0 < one["seconds"] < 1 for one in measured.values())
    # Make another one the fastest.
    slowest = max(measured, key=lambda name: measured[name]["seconds"])
    measured[slowest]["seconds"] = 1e-9
    file.write_text(json.dumps(content))
    tuned, found = compiled(model, TUNING_FILE=str(file))
    configuration = tuple(measured[slowest]["configuration"].items())
    assert chosen(tuned) == {(slowest.partition(":")[0], configuration, True)}
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)
    assert not any(is_measured for *_, is_measured in chosen(plain))


def test_what_was_measured_before_is_kept(model, tmp_path):
    found, _ = compiled(model)
    file, calls = tmp_path / "tuning.json", []
    found.tune(file)
    before = file.read_bytes()
    found.tune(file, lambda *call: calls.append(call))
    assert file.read_bytes() == before and not calls


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{", "damaged"),
        (b"[]", "damaged"),
        (b'{"device": "x"}', "damaged"),
        (b'{"device": "x", "operations": {"a": {"b": {"seconds": 1}}}}', "damaged"),
        (b'{"device": "x", "operations": {"a": {"b": {"configuration": {}, "seconds": -1}}}}', "damaged"),
        (b'{"device": "another", "operations": {}}', "it is for another, and this is "),
        (None, "No such file"),
    ],
)
def test_a_file_that_does_not_fit_gives_one_warning(model, tmp_path, caplog, content, problem):
    file = tmp_path / "tuning.json"
    if content is not None:
        file.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            found, _ = compiled(model, TUNING_FILE=str(file))
    (message,) = [record.getMessage() for record in caplog.records if "tuning" in record.getMessage()]
    assert message.startswith(f"the tuning file {file} is not used: ") and problem in message
    assert not any(is_measured for *_, is_measured in chosen(found))


def test_devices_without_tuning_say_so(model):
    template = Core().compile_model(model, "TEMPLATE")
    with pytest.raises(NotSupportedError, match="TEMPLATE has nothing to tune"):
        template.tune()
