"""The ONNX project's cases: the device runs each one that it supports and refuses the others with a reason."""

import pytest

from hetero import Core
from hetero.conformance.onnx_cases import cases, check_case, read_case
from hetero.conformance.report import Record, record_case
from hetero.conformance.samples import check_refusal, operations, supports_all

# ONNX does not specify the random number generator, but these cases expect numpy's numbers.
RANDOM = {
    f"test_{name}"
    for name in (
        "bernoulli", "bernoulli_expanded", "bernoulli_double", "bernoulli_double_expanded", "bernoulli_seed",
        "bernoulli_seed_expanded", "training_dropout_default", "training_dropout_default_mask", "training_dropout",
        "training_dropout_mask",
    )
}  # fmt: skip
# Operators that hetero does not read, and models without an operation for a device.
EXCLUDED = {"test_gradient_of_add", "test_gradient_of_add_and_mul", "test_identity_sequence", "test_identity_opt"}
# Tolerance of f16 and bf16 results, in steps of their type: devices round after other operations than ONNX does.
TOLERANCE_STEPS = 2
CASES = cases("node")


@pytest.fixture(scope="module")
def core() -> Core:
    return Core()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in CASES if name not in RANDOM | EXCLUDED])
def test_case(core: Core, device: str, name: str, record_property: Record) -> None:
    case = CASES[name]
    model = read_case(core, case)
    answer = core.query_model(model, device)
    names = {node.friendly_name for node in model.get_ordered_ops()}
    assert answer.keys() <= names, "query_model returns names that no operation of the model has"
    supported = supports_all(answer, model)
    if operations(model):  # some models consist of constants only
        types = {port.element_type.to_string() for port in model.inputs}
        record_case(record_property, operator_of(name), types, supported)
    if supported:
        check_case(core.compile_model(model, device), case, TOLERANCE_STEPS)
    else:
        check_refusal(core, model, device)


def operator_of(name: str) -> str:
    """Return the operator that a case tests. An "expanded" case has the operators of its decomposition instead."""
    model = CASES.get(name.split("_expanded")[0], CASES[name]).model
    return model.graph.node[0].op_type if model else name
