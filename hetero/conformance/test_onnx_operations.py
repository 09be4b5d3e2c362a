"""Operations: each case of the ONNX project that the device says it can run, it does; the others it refuses rightly."""

import pytest

from hetero import Core
from hetero.conformance.onnx_cases import cases, check_case, read_case
from hetero.conformance.report import note
from hetero.conformance.samples import check_refusal, claims_all, operations

# ONNX fixes no generator of random numbers, but expects those that numpy drew once.
DRAWN = {
    f"test_{name}"
    for name in (
        "bernoulli", "bernoulli_expanded", "bernoulli_double", "bernoulli_double_expanded", "bernoulli_seed",
        "bernoulli_seed_expanded", "training_dropout_default", "training_dropout_default_mask", "training_dropout",
        "training_dropout_mask",
    )
}  # fmt: skip
# Operators that hetero does not read, and sequences that are handed through, with which no device has anything to do.
NO_WORK = {"test_gradient_of_add", "test_gradient_of_add_and_mul", "test_identity_sequence", "test_identity_opt"}
# Steps of their type by which f16 and bf16 results may be off: devices round after other operations than ONNX does.
STEPS = 2
CASES = cases("node")


@pytest.fixture(scope="module")
def core():
    return Core()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in CASES if name not in DRAWN | NO_WORK])
def test_case(core, device, name, record_property):
    case = CASES[name]
    model = read_case(core, case)
    found = core.query_model(model, device)
    names = {node.friendly_name for node in model.get_ordered_ops()}
    assert found.keys() <= names, "the device answers under names that no operation of the model has"
    supported = claims_all(found, model)
    if operations(model):  # of some only what they read is left
        note(record_property, operator_of(name), {str(port.element_type) for port in model.inputs}, supported)
    if supported:
        check_case(core.compile_model(model, device), case, STEPS)
    else:
        check_refusal(core, model, device)


def operator_of(name: str) -> str:
    """The operator that a case is of; in "expanded" cases others stand for it."""
    original = CASES.get(name.split("_expanded")[0], CASES[name])
    return original.model.graph.node[0].op_type
