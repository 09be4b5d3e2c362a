"""Properties accept or refuse any value; a PropertyError says what is accepted."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetero import properties as props
from hetero.errors import PropertyError
from hetero.properties import Property, PropertyTable

PROPERTIES = {
    str(value): value
    for module in (props, props.hint, props.device, props.streams, props.log)
    for value in vars(module).values()
    if isinstance(value, Property)
}
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.text() | st.binary()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner))


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
    assert table.explicit().keys() == (values.keys() if is_accepted else set())
    assert {k: v for k, v in after.items() if k not in table.explicit()} == {
        k: v for k, v in before.items() if k not in table.explicit()
    }


@pytest.mark.parametrize("key", sorted(PROPERTIES))
def test_defaults_are_valid_values(key):
    checked = PROPERTIES[key]
    assert checked.checked(checked.default) == checked.default
