"""What work-groups do, against counts on paper. Kernels are in kernels.cl; kernels.ll is what clang makes of them.

Waves have 32 work-items, cache lines 128 bytes, sectors 32 bytes, and local memory 32 banks of 4 bytes.
"""

from pathlib import Path

import pytest
from hetero_opencl.estimate import trace
from hetero_opencl.estimate.llvm_ir import parse_kernels
from hetero_opencl.estimate.static_cost import KernelCosts
from hetero_opencl.estimate.trace import Geometry, trace_group

KERNELS = parse_kernels((Path(__file__).parent / "kernels.ll").read_text())
A, B, C = 1 << 40, 2 << 40, 3 << 40


def work_of(name, *arguments, items=32, unaligned_bytes=16):
    kernel = KERNELS[name]
    costs = KernelCosts(kernel, 1, unaligned_bytes)
    return trace_group(kernel, costs, arguments, Geometry((4096, 4096, 1), (items, 1, 1)), 0, 32, 128, 128)


def test_a_copy():
    work = work_of("copy", A, B, items=64)
    assert work.waves == 2
    assert work.flops == 0
    assert work.accesses == 2 * 2  # a line is read and one is written by each wave
    assert work.cache_bytes == 64 * 4 * 2
    assert work.sectors == 64 * 4 * 2 / 32


@pytest.mark.parametrize(("stride", "lines", "sectors"), [(2, 2, 8), (8, 8, 32), (32, 32, 32), (33, 32, 32)])
def test_a_strided_copy(stride, lines, sectors):
    work = work_of("strided", A, B, stride)
    assert work.accesses == lines + 1
    assert work.cache_bytes == 2 * 128  # what was not asked for does not count
    assert work.sectors == sectors + 4


@pytest.mark.parametrize(("kernel", "read"), [("transpose_padded", 1), ("transpose", 32)])
def test_bank_conflicts(kernel, read):
    """Rows of 32 elements put a column into one bank, rows of 33 into all."""
    work = work_of(kernel, A, B, 1024)
    assert work.local_cycles == 32 * (1 + read)
    assert work.accesses == 32 * 2
    assert work.sectors == 32 * 4 * 2


def test_constant_places_in_local_memory():
    work = work_of("neighbors", A, items=64)
    assert work.local_cycles == 2 + 2  # each wave writes once, the first one reads twice
    assert work.accesses == 2 + 1


def test_local_memory_is_that_of_the_kernel():
    assert KERNELS["transpose_padded"].local_arrays == {"@transpose_padded.t": 32 * 33 * 4}
    assert KERNELS["copy"].local_arrays == {}


def test_a_loop_of_multiply_adds():
    work = work_of("sum", A, B, C, 20)  # rows of 80 bytes: 32 of them are 20 lines
    assert work.flops == 2 * 20 * 32
    assert work.inner == 20
    assert work.cache_bytes == 20 * (32 * 4 + 4) + 32 * 4
    assert work.sectors == 32 * 20 * 4 / 32 + 3 + 4  # of a, of 80 bytes of b, of c


@pytest.mark.parametrize(
    ("kernel", "arguments", "sectors"),
    [
        ("sum", (A, B, C, 4000), 32 * 500 + 500 + 4),
        ("bytes", (A, B, 8000), 32 * 250 + 4),
        ("nested", (A, B, 3, 500), 3 * 500 * 4 + 4),
        ("waiting", (A, B, 1001), 1000 * 4 + 4),
        ("prefetch", (A, B, 1000), 1000 * 4 + 4),
    ],
)
def test_iterations_that_are_skipped_count(monkeypatch, kernel, arguments, sectors):
    skipped = work_of(kernel, *arguments)
    monkeypatch.setattr(trace, "_FOLLOWED", 1 << 30)
    followed = work_of(kernel, *arguments)
    for count in ("flops", "issued", "alone", "accesses", "cache_bytes", "inner"):
        assert getattr(skipped, count) == pytest.approx(getattr(followed, count)), count
    assert followed.sectors == sectors
    # Sectors that the last iterations share with others may be counted twice: two for each work-item at most.
    assert skipped.sectors == pytest.approx(sectors, rel=0.01)


def test_nested_loops():
    work = work_of("nested", A, B, 3, 50)
    assert work.inner == 3 * 50
    assert work.flops == (3 * 50 + 3) * 32
    assert work.accesses == 3 * 50 + 1


def test_divergent_branches():
    work = work_of("divergent", A, 1 << 20)
    assert work.flops == 16 * 1 + 16 * 2
    assert work.accesses == 3  # both branches meet before the store
    # Of both branches: 4 of the entry, a multiplication, a division of 12 and an addition, 2 and 3 after them.
    assert work.issued == 4 + 1 + 13 + 2 + 3


def test_a_condition_that_no_work_item_meets():
    assert work_of("divergent", A, 0).accesses == 2


def test_work_items_that_leave_a_loop_wait_for_the_others():
    """Work-item i runs i iterations. All store their results together."""
    work = work_of("triangle", A, B)
    assert work.flops == sum(range(32))
    assert work.accesses == 31 + 1
    assert work.sectors == 4 + 4


def test_branches_in_a_loop_with_a_barrier():
    work = work_of("alternating", A, B, 10)
    assert work.flops == 10 * 16
    assert work.accesses == 10 * 2 + 1


@pytest.mark.parametrize(("unaligned_bytes", "pieces"), [(16, 4), (1, 16)])
def test_vectors(unaligned_bytes, pieces):
    """A wave reads and writes 2048 bytes in 16 lines, all of them with each piece."""
    work = work_of("vector", A, B, unaligned_bytes=unaligned_bytes)
    assert work.flops == 16 * 32
    assert work.accesses == 2 * pieces * 16
    assert work.cache_bytes == 2 * 2048
    assert work.sectors == 2 * 2048 / 32


def test_vectors_of_halves():
    work = work_of("halves", A, B)
    assert work.accesses == 2 * 2 * 8
    assert work.cache_bytes == 2 * 1024
    assert work.sectors == 2 * 1024 / 32


@pytest.mark.parametrize(("kernel", "cycles"), [("waiting", 320 + 20), ("prefetch", 320)])
def test_a_wave_alone(kernel, cycles):
    """A multiply-add waits for what it reads, 320 cycles, and for three steps of the address and its own of 5 cycles.

    If the element is read an iteration before, only the read takes its time.
    """
    assert KernelCosts(KERNELS[kernel], 1, 16).blocks["for.body"].alone == cycles
