"""PriorBox and PriorBoxClustered with sizes from inputs, compared with the reference."""

import pytest

from tests.ops.detection import test_prior_boxes
from tests.ops.oracle import Data


@pytest.mark.parametrize("case", test_prior_boxes.RESULTS[::4], ids=str)
def test_results(reference_agrees, case):
    name, opset, cells, image, attributes = case
    reference_agrees(name, Data(cells), Data(image), attributes, opset=opset)
