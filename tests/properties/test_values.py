"""Any value of any kind is taken in the property's type, or refused by a PropertyError that says what is taken."""

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
    found = PROPERTIES[key]
    try:
        taken = found.checked(value, "NPU")
    except PropertyError as error:
        assert str(error).startswith(f"property {key} of NPU cannot be ")
        assert str(error).endswith(f": it takes {found.accepts}")
    else:
        assert found.checked(taken) == taken


@given(st.dictionaries(st.sampled_from([*PROPERTIES, "NO_SUCH_KEY", "", 7]), VALUES, min_size=1))
def test_all_or_nothing(values):
    table = PropertyTable(PROPERTIES.values(), "NPU")
    before = {key: table.get(key) for key in PROPERTIES}
    taken = False
    with contextlib.suppress(PropertyError):
        table.set(values)
        taken = True
    after = {key: table.get(key) for key in PROPERTIES}
    assert table.explicit().keys() == (values.keys() if taken else set())
    assert {k: v for k, v in after.items() if k not in table.explicit()} == {
        k: v for k, v in before.items() if k not in table.explicit()
    }


@pytest.mark.parametrize("key", sorted(PROPERTIES))
def test_defaults_are_values_that_are_taken(key):
    found = PROPERTIES[key]
    assert found.checked(found.default) == found.default
