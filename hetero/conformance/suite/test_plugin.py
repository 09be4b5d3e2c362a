"""The plugin: availability, properties, query_model and unsupported operations."""

import math

import pytest

from hetero import Core
from hetero import properties as props
from hetero.conformance.samples import SampleModel, operations, supports, used_devices
from hetero.dispatch.devices import parse_device_name
from hetero.plugin import full_name
from hetero.system.errors import DeviceError, PropertyError, UnsupportedOperationError


def test_is_available(core: Core, device: str) -> None:
    for used in used_devices(core, device):
        kind = parse_device_name(used).kind
        assert any(name == used or name.split(".")[0] == kind for name in core.available_devices)
        assert kind not in core.unavailable_devices


def test_only_listed_ids_are_devices(core: Core, device: str, sample: SampleModel) -> None:
    kind = parse_device_name(device).kind
    names = [full_name(kind, device.id) for device in core.get_plugin(kind).devices()]
    assert len(set(names)) == len(names)
    for name in names:
        assert core.get_property(name, props.device.full_name)
        sample.check(core.compile_model(sample.model(), name))
    with pytest.raises(DeviceError, match=f"{kind}.no_such_id"):
        core.compile_model(sample.model(), f"{kind}.no_such_id")


def test_every_supported_property_can_be_read(core: Core, device: str) -> None:
    supported = core.get_property(device, props.supported_properties)
    assert set(supported.values()) <= {"RO", "RW", "WO"}
    for key in supported:
        core.get_property(device, key)


def test_has_a_full_name(core: Core, device: str) -> None:
    assert core.get_property(device, props.device.full_name)


def test_read_only_properties_cannot_be_set(core: Core, device: str, sample: SampleModel) -> None:
    for key, mutability in core.get_property(device, props.supported_properties).items():
        if mutability == "RO":
            value = core.get_property(device, key)
            with pytest.raises(PropertyError, match=key):
                core.set_property(device, {key: value})
            with pytest.raises(PropertyError, match=key):
                core.compile_model(sample.model(), device, {key: value})


def test_writable_properties_accept_their_own_value(core: Core, device: str) -> None:
    for key, mutability in core.get_property(device, props.supported_properties).items():
        if mutability == "RW":
            value = core.get_property(device, key)
            core.set_property(device, {key: value})
            assert core.get_property(device, key) == value


def test_unknown_properties_are_refused(core: Core, device: str, sample: SampleModel) -> None:
    unknown = {"NO_SUCH_PROPERTY": 1}
    for act in (
        lambda: core.get_property(device, "NO_SUCH_PROPERTY"),
        lambda: core.set_property(device, unknown),
        lambda: core.query_model(sample.model(), device, unknown),
        lambda: core.compile_model(sample.model(), device, unknown),
    ):
        with pytest.raises(PropertyError, match="NO_SUCH_PROPERTY"):
            act()


def test_a_bad_value_is_refused_and_changes_nothing(core: Core, device: str) -> None:
    for key, mutability in core.get_property(device, props.supported_properties).items():
        before = core.get_property(device, key)
        if mutability == "RW" and isinstance(before, bool):
            with pytest.raises(PropertyError, match=key):
                core.set_property(device, {key: "NEITHER"})
            assert core.get_property(device, key) == before


def test_query_names_the_models_nodes_and_the_device(core: Core, device: str, sample: SampleModel) -> None:
    model = sample.model(length=3)
    answer = core.query_model(model, device)
    assert set(answer) == {node.friendly_name for node in model.get_ordered_ops()}
    assert all(parse_device_name(where).kind == parse_device_name(device).kind for where in answer.values())


def test_query_and_compile_leave_the_model_as_it_is(core: Core, device: str, sample: SampleModel) -> None:
    model = sample.model(length=2)
    before = [(node, node.friendly_name, dict(node.rt_info)) for node in model.get_ordered_ops()]
    core.query_model(model, device)
    core.compile_model(model, device)
    assert [(node, node.friendly_name, dict(node.rt_info)) for node in model.get_ordered_ops()] == before


@pytest.mark.parametrize("rows", [2, -1])
def test_estimated_costs_are_finite_numbers_of_seconds_or_none(
    core: Core, device: str, sample: SampleModel, rows: int
) -> None:
    plugin, options = core.resolve_device(device)
    for node in operations(sample.model(rows, length=2)):
        seconds = plugin.estimate_cost(node, options)
        assert seconds is None or 0 <= seconds < math.inf


def test_supported_model_compiles_and_runs(core: Core, device: str, sample: SampleModel) -> None:
    assert supports(core, sample.model(), device)
    sample.check(core.compile_model(sample.model(), device))


def test_an_unknown_operation_is_refused_with_a_reason(core: Core, device: str, sample: SampleModel) -> None:
    model = sample.with_unknown_operation()
    answer = core.query_model(model, device)
    assert "known" in answer
    assert "unheard" not in answer
    assert answer.refused["unheard"]
    assert [node.friendly_name for node in operations(model) if node.friendly_name not in answer] == ["unheard"]


def test_compiling_an_unknown_operation_names_it(core: Core, device: str, sample: SampleModel) -> None:
    with pytest.raises(UnsupportedOperationError, match="unheard"):
        core.compile_model(sample.with_unknown_operation(), device)
    sample.check(core.compile_model(sample.model(), device))
