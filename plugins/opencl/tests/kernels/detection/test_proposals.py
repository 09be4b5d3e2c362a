"""Proposals and Detectron's operations: the cases of tests/ops, compared with the reference."""

import numpy as np
import pytest

from tests.ops.detection import test_detectron, test_proposals
from tests.ops.detection.test_proposals import FEW, GENERATE, GENERATE_INPUTS, IMAGE, INPUTS, PROPOSAL, SIZES, USUAL
from tests.ops.oracle import Data


@pytest.mark.parametrize("case", test_proposals.RESULTS, ids=lambda case: f"{case[0]}-{case[1]}-{case[5:]}")
def test_proposals_agree(reference_agrees, case):
    name, opset, *arguments = case
    # The sides of f16 are pixels, and their errors are those of f16.
    tolerance = 1e-3 if isinstance(arguments[0], Data) and arguments[0].array.dtype == np.float16 else 1e-5
    reference_agrees(name, *arguments, opset=opset, tolerance=tolerance)


@pytest.mark.parametrize("case", test_detectron.RESULTS, ids=lambda case: f"{case[0][22:]}-{case[2]}")
def test_detectron_agrees(reference_agrees, case):
    name, arguments, attributes = case
    reference_agrees(name, *arguments, opset=test_detectron.OPSET, **attributes)


def test_image_from_an_input_and_rows_without_a_box(reference_agrees):
    reference_agrees(PROPOSAL, *INPUTS, Data(IMAGE), USUAL | FEW, opset=4)


def test_threshold_that_falls(reference_agrees):
    reference_agrees(GENERATE, SIZES, *GENERATE_INPUTS, 2.0, 0.8, 50, 20, False, 0.6, opset=9)


def test_f64(reference_agrees):
    inputs = [Data(value.array.astype(np.float64)) for value in (SIZES, *GENERATE_INPUTS)]
    reference_agrees(GENERATE, *inputs, 4.0, 0.4, 50, 20, opset=9)
