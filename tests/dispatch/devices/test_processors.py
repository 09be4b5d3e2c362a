"""The device name CPU: HETERO with the devices that use the processor."""

import numpy as np
import pytest

from hetero import Core, Model, Parameter, Type, ops
from hetero.dispatch.devices import with_processors
from hetero.plugin import Rank
from hetero.system.errors import DeviceError, PropertyError
from tests.devices import core_with
from tests.dispatch.faulty import no_exp
from tests.virtual.devices import Backend

PRIORITIES = "MULTI_DEVICE_PRIORITIES"


def exp_of_square() -> Model:
    x = Parameter(Type.f32, [4], name="x")
    return Model([ops.Exp(ops.Multiply(x, x))], [x])


def processors(core: Core) -> list[str]:
    return list(with_processors(core.host, ["CPU"]))


def test_it_runs_whole_models_on_the_devices_of_the_processor():
    core = Core()
    assert processors(core)[-1] == "TEMPLATE" and not any(name.startswith(("GPU", "RAY")) for name in processors(core))
    compiled = core.compile_model(exp_of_square(), "CPU")
    x = np.linspace(-1, 1, 4, dtype=np.float32)
    np.testing.assert_allclose(compiled(x)[0], np.exp(x * x), rtol=1e-5)
    assert compiled.get_property(PRIORITIES) == processors(core)
    assert set(compiled.get_property("EXECUTION_DEVICES")) <= set(processors(core))


def test_what_one_device_lacks_runs_on_another():
    core = core_with(A=Backend(accepts=no_exp, rank=Rank.PROCESSOR), B=Backend(rank=Rank.REFERENCE))
    others = {name.partition(".")[0] for name in Core().host.available_devices}
    names = [name for name in processors(core) if name.partition(".")[0] not in others]
    assert names == ["A", "B"]  # by rank
    compiled = core.compile_model(exp_of_square(), f"HETERO:{','.join(names)}")
    assert compiled.get_property("EXECUTION_DEVICES") == ["A", "B"]


def test_a_model_that_one_device_runs_whole_is_not_divided():
    a, b = Backend(accepts=no_exp, rank=Rank.PROCESSOR), Backend(rank=Rank.PROCESSOR)
    core = core_with(A=a, B=b, C=Backend(rank=Rank.REFERENCE))

    def devices(names, **options):
        return core.compile_model(exp_of_square(), f"HETERO:{names}", options).get_property("EXECUTION_DEVICES")

    assert devices("A,B,C", PLACEMENT="UNDIVIDED") == ["B"]
    assert devices("B,A,C", PLACEMENT="UNDIVIDED") == ["B"]
    assert devices("A,C", PLACEMENT="UNDIVIDED") == ["A", "C"]  # the reference would run it whole, but slowly
    assert devices("A,B,C", PLACEMENT="UNDIVIDED", AFFINITIES={"Multiply*": "A"}) == ["A", "B"]
    assert devices("A,B,C") == ["A", "B"]
    assert core.compile_model(exp_of_square(), "CPU").get_property("PLACEMENT") == "UNDIVIDED"
    assert core.compile_model(exp_of_square(), "CPU", {"PLACEMENT": "GREEDY"}).get_property("PLACEMENT") == "GREEDY"


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        ("HETERO:TEMPLATE,CPU", ["TEMPLATE", *processors(Core())[:-1]]),
        ("AUTO:CPU", processors(Core())),
        ("MULTI:CPU(2)", [f"{processors(Core())[0]}(2)"]),
        ("BATCH:CPU", processors(Core())[:1]),
        ("CPU.0", processors(Core())),
    ],
)
def test_in_a_list_it_stands_for_these_devices(device, expected):
    core = Core()
    kind, _, listed = device.partition(":")
    assert core.compile_model(exp_of_square(), device).get_property(PRIORITIES) == expected
    if listed:
        compiled = core.compile_model(exp_of_square(), kind, {PRIORITIES: listed})
        assert compiled.get_property(PRIORITIES) == expected


def test_properties_are_those_of_its_devices():
    core = Core()
    first = processors(core)[0]
    assert core.get_property("CPU", "FULL_DEVICE_NAME") == core.get_property(first, "FULL_DEVICE_NAME")
    core.set_property("CPU", {"PERF_COUNT": True, "NUM_STREAMS": 2})
    for name in ("CPU", "HETERO", *processors(core)):
        assert core.get_property(name, "PERF_COUNT") is True and core.get_property(name, "NUM_STREAMS") == 2
    with pytest.raises(PropertyError, match="CPU has no property NUM_STREAM; did you mean NUM_STREAMS"):
        core.set_property("CPU", {"NUM_STREAM": 1})


def test_strict_is_for_the_first_of_them():
    from hetero.run.settings import parse_properties

    options = parse_properties([], "CPU")
    compiled = Core().compile_model(exp_of_square(), "CPU", options)
    assert compiled.get_property("EXECUTION_DEVICES") == processors(Core())[:1]


def test_a_device_of_this_name_comes_first():
    core = core_with(CPU=Backend())
    assert core.compile_model(exp_of_square(), "CPU").get_property("EXECUTION_DEVICES") == ["CPU"]
    compiled = core.compile_model(exp_of_square(), "HETERO:CPU,TEMPLATE")
    assert compiled.get_property(PRIORITIES) == ["CPU", "TEMPLATE"]


def test_another_number():
    with pytest.raises(DeviceError, match="there is no device CPU"):
        Core().compile_model(exp_of_square(), "CPU.1")
