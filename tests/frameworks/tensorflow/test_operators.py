"""Every case of every operator agrees with TensorFlow, except those listed here."""

from tests.frameworks.tensorflow.operators import AGREES, run_all

# The label of each case that differs, and the reason.
EXCEPTIONS = {
    "Round-3": "TensorFlow 2.21 rounds every i32 to 0, against its documentation",
    "Round-3-dynamic": "TensorFlow 2.21 rounds every i32 to 0, against its documentation",
}


def test_operators():
    outcomes = run_all([], "hetero")
    differing = {label: text for label, text in outcomes.items() if text != AGREES}
    assert {label: text for label, text in differing.items() if label not in EXCEPTIONS} == {}
    assert [label for label in EXCEPTIONS if label not in differing] == []
