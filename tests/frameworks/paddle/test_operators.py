"""Operators agree with PaddlePaddle, in both file forms; OpenVINO's count on the same programs is printed beside."""

from collections import Counter

import numpy as np
import openvino
import pytest

from hetero import Core
from tests.frameworks.paddle.operators import cases
from tests.frameworks.paddle.programs import save_case

CASES = list(cases())
COUNTS: Counter = Counter()


def agree(found, expected):
    assert len(found) == len(expected)
    for array, wanted in zip(found, expected):
        assert array.dtype == wanted.dtype
        np.testing.assert_allclose(array, wanted, rtol=1e-4, atol=1e-4)


def openvino_agrees(saved) -> bool:
    """Return whether OpenVINO's results agree. Its inputs and outputs have names, but another order."""
    try:
        compiled = openvino.Core().compile_model(saved.program, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        results = compiled(dict(zip(saved.input_names, saved.inputs)))
        named = {name: value for output, value in results.items() for name in output.names}
        in_order = [results[output] for output in compiled.outputs]
        is_named = named.keys() >= set(saved.output_names)
        agree([named[name] for name in saved.output_names] if is_named else in_order, saved.outputs)
    except (AssertionError, RuntimeError):
        return False
    return True


@pytest.mark.parametrize("case", CASES, ids=[f"{index}-{case.op_type}" for index, case in enumerate(CASES)])
def test_operator(case, tmp_path):
    saved = save_case(case, tmp_path / "model")
    COUNTS["programs"] += 1
    COUNTS["OpenVINO"] += openvino_agrees(saved)
    core = Core()
    agree(core.compile_model(saved.program, "TEMPLATE")(saved.inputs).to_tuple(), saved.outputs)
    COUNTS["pdmodel"] += 1
    if saved.json is not None:
        COUNTS["JSON programs"] += 1
        agree(core.compile_model(saved.json, "TEMPLATE")(saved.inputs).to_tuple(), saved.outputs)
        COUNTS["JSON"] += 1


def test_counts(capsys):
    with capsys.disabled():
        print(
            f"\nof {COUNTS['programs']} programs of one operator, hetero agrees with PaddlePaddle on"
            f" {COUNTS['pdmodel']} .pdmodel files, OpenVINO on {COUNTS['OpenVINO']};"
            f" hetero on {COUNTS['JSON']} of {COUNTS['JSON programs']} JSON programs"
        )
