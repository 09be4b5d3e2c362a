"""Every operator of ONNX's standard domain in every version: that it is translated, and computes what it should.

The cases are ONNX's own, of the newest version; where an older version accepts their node too, it must do the same.
"""

import copy
import dataclasses
import re
from collections import defaultdict
from itertools import islice
from pathlib import Path

import onnx
import pytest

from hetero.frontend.onnx import translators as _  # noqa: F401 (fills the table)
from hetero.frontend.onnx.functions import StandardFunction
from hetero.frontend.onnx.node_context import translators
from tests.frontend.onnx.backend import cases, run_case

# Versions without a case that means the same by the same node, by the file of the tests that try them instead.
REDUCTIONS = [f"Reduce{name}" for name in ("L1", "L2", "LogSum", "LogSumExp", "Mean", "SumSquare")]
ELSEWHERE = {
    "test_control_flow": {"Loop": {1}},
    "test_math": {
        "BatchNormalization": {1}, "Cast": {1}, "Clip": {1, 6}, "DepthToSpace": {1}, "MeanVarianceNormalization": {13},
        "Hardmax": {1, 11}, "LogSoftmax": {1, 11}, "Softmax": {1, 11}, "Pad": {1, 2}, "Reshape": {1},
        "Squeeze": {1, 11}, "Unsqueeze": {1, 11}, "Upsample": {1, 7}, "ReduceSum": {1, 11},
        **{name: {1, 11, 13} for name in REDUCTIONS},
    },
    "test_pooling": {"GlobalLpPool": {1, 2, 22}, "LpPool": {1}},
    "test_random": {
        "Bernoulli": {15, 22}, "Multinomial": {7, 22}, "RandomNormal": {1, 22}, "RandomNormalLike": {1, 22},
        "RandomUniform": {1, 22}, "RandomUniformLike": {1, 22},
    },
    "test_resize": {"Resize": {10, 11}},
    "test_roi": {"MaxRoiPool": {1, 22}, "RoiAlign": {10}},
    "test_selection": {"Slice": {1}, "Tile": {1}, "TopK": {1}},
    "test_sequences": {
        "ConcatFromSequence": {11}, "Optional": {15, 28}, "SequenceAt": {11}, "SequenceConstruct": {11},
        "SequenceEmpty": {11}, "SequenceErase": {11}, "SequenceLength": {11},
    },
}  # fmt: skip
# Dropout in training draws random numbers, which are other ones with each library.
RANDOM = re.compile("training_dropout(_mask|_default|_default_mask)?$")
CASES_OF_EACH = 5


def schemas() -> dict[str, list[int]]:
    """Return the versions of each operator without those that deprecate it."""
    versions = defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and not schema.deprecated:
            versions[schema.name].append(schema.since_version)
    return dict(sorted(versions.items()))


VERSIONS = schemas()


def single_nodes():
    """Return ONNX's test cases of one node, by operator."""
    found = defaultdict(list)
    for case in cases().values():
        if case.model and len(case.model.graph.node) == 1 and not RANDOM.search(case.name):
            found[case.model.graph.node[0].op_type].append(case)
    return found


SINGLE_NODES = single_nodes()


def in_version(case, version):
    """Return the case in a model of this operator set, or None if the operator set has no such node."""
    if len(case.model.opset_import) > 1:
        return None
    model = copy.deepcopy(case.model)
    model.opset_import[0].version = version
    try:
        onnx.checker.check_model(model)
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return None
    return dataclasses.replace(case, model=model)


def test_every_operator_is_translated():
    def is_translated(op_type, version):
        return translators.find(op_type, version) or StandardFunction.find("", op_type, version)

    assert [(name, v) for name, versions in VERSIONS.items() for v in versions if not is_translated(name, v)] == []


def test_operators_tested_elsewhere_exist():
    for file, operators in ELSEWHERE.items():
        text = Path(__file__).with_name(f"{file}.py").read_text()
        assert [name for name in operators if not re.search(rf"\b{name}\b", text)] == []


def tried_elsewhere(op_type):
    return set().union(*(versions.get(op_type, set()) for versions in ELSEWHERE.values()))


@pytest.mark.parametrize("op_type", VERSIONS)
def test_versions(op_type):
    without_cases = []
    for version in sorted(set(VERSIONS[op_type]) - tried_elsewhere(op_type)):
        found = (in_version(case, version) for case in SINGLE_NODES[op_type])
        tried = list(islice(filter(None, found), CASES_OF_EACH))
        for case in tried:
            run_case(case, "TEMPLATE")
        if not tried:
            without_cases.append(version)
    assert without_cases == []
