"""Properties accept or refuse any value; a PropertyError says what is accepted."""

import contextlib
import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetero import properties as props
from hetero.properties import Property, PropertyTable
from hetero.system.errors import PropertyError

PROPERTIES = {
    str(value): value
    for module in (props, props.hint, props.device, props.streams, props.log)
    for value in vars(module).values()
    if isinstance(value, Property)
}
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.text() | st.binary()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner))


@pytest.mark.parametrize("key", sorted(PROPERTIES))
def test_copies(key):
    """A copy, also one with another default, has the same key and accepts the same values."""
    original = PROPERTIES[key]
    equal, other = copy.deepcopy(original), original.with_default("another")
    assert other.default == "another" and equal.default == original.default
    for copied in (equal, other):
        assert (copied, copied.mutability, copied.accepts) == (key, original.mutability, original.accepts)
    with contextlib.suppress(PropertyError):
        assert equal.checked("3") == original.checked("3")


def test_properties_with_their_values():
    table = PropertyTable([props.num_streams, props.enable_profiling], "NPU")
    table.set({"NUM_STREAMS": "3"})
    assert {str(one): one.default for one in table.with_values()} == {
        "SUPPORTED_PROPERTIES": {}, "NUM_STREAMS": 3, "PERF_COUNT": False,
    }  # fmt: skip


@given(st.sampled_from(sorted(PROPERTIES)), VALUES)
def test_any_value(key, value):
    checked = PROPERTIES[key]
    try:
        converted = checked.checked(value, "NPU")
    except PropertyError as error:
        assert str(error).startswith(f"property {key} of NPU cannot be ")
        assert str(error).endswith(f": it takes {checked.accepts}")
    else:
        assert checked.checked(converted) == converted


@given(st.dictionaries(st.sampled_from([*PROPERTIES, "NO_SUCH_KEY", "", 7]), VALUES, min_size=1))
def test_all_or_nothing(values):
    table = PropertyTable(PROPERTIES.values(), "NPU")
    before = {key: table.get(key) for key in PROPERTIES}
    is_accepted = False
    with contextlib.suppress(PropertyError):
        table.set(values)
        is_accepted = True
    after = {key: table.get(key) for key in PROPERTIES}
    assert table.set_by_user().keys() == (values.keys() if is_accepted else set())
    assert {k: v for k, v in after.items() if k not in table.set_by_user()} == {
        k: v for k, v in before.items() if k not in table.set_by_user()
    }


@pytest.mark.parametrize("key", sorted(PROPERTIES))
def test_defaults_are_valid_values(key):
    checked = PROPERTIES[key]
    assert checked.checked(checked.default) == checked.default
