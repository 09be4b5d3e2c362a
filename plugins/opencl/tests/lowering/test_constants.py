"""Constants of any strides are uploaded in row-major order, and equal small ones once."""

from types import SimpleNamespace

import numpy as np
import pytest
from hetero_opencl.lowering.constants import Constants, contiguous

from hetero import Type

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


@pytest.mark.parametrize("kind", [Type.f32, Type.bf16, Type.i64, Type.f8e4m3], ids=str)
def test_equal_arrays_are_one_buffer_as_in_an_exported_model(kind):
    constants = Constants(lambda array: SimpleNamespace(size=array.nbytes))
    first, second, other = (np.array(numbers, kind.to_dtype()) for numbers in ([1, 2, 3], [1, 2, 3], [1, 2, 4]))
    buffer = constants.buffer(first)
    assert constants.buffer(second) is constants.buffer(first.copy()) is buffer
    assert constants.buffer(other) is not buffer
    assert constants.buffer(first.reshape(3, 1)) is not buffer
    assert constants.byte_size == first.nbytes  # the others are not used any more
