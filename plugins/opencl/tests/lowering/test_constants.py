"""Constants of any strides are uploaded in row-major order."""

import numpy as np
import pytest
from hetero_opencl.lowering.constants import contiguous

NUMBERS = np.arange(2 * 3 * 70 * 130, dtype=np.float32).reshape(2, 3, 70, 130)
ARRANGEMENTS = {
    "as they are": NUMBERS,
    "matrices by columns": NUMBERS.swapaxes(-1, -2),
    "one matrix by columns": NUMBERS[1, 2].T,
    "a part by columns": NUMBERS[0, 1, 3:, 5:].T,
    "every second column": NUMBERS[..., ::2].swapaxes(-1, -2),
    "all axes turned": NUMBERS.T,
    "a vector": NUMBERS[0, 0, :, 0],
    "a number": NUMBERS[0, 0, 0, 7],
    "bytes by columns": NUMBERS.astype(np.uint8)[0, 0].T,
    "numbers of 64 bits by columns": NUMBERS.astype(np.int64)[0].swapaxes(1, 2),
    "nothing": NUMBERS[:, :0].swapaxes(-1, -2),
}


@pytest.mark.parametrize("array", ARRANGEMENTS.values(), ids=ARRANGEMENTS)
def test_they_lie_in_rows(array):
    found = contiguous(array)
    assert found.flags.c_contiguous and found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)
