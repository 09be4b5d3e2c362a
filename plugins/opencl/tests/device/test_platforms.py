"""Which devices are one GPU under several drivers, and in which order devices are numbered."""

from types import SimpleNamespace

import pyopencl as cl
import pytest
from hetero_opencl.device import platforms
from hetero_opencl.device.device import _order
from hetero_opencl.device.platforms import all_devices, info_of, pci_address

GPU, CPU, ACCELERATOR = cl.device_type.GPU, cl.device_type.CPU, cl.device_type.ACCELERATOR
MAX_COMPUTE_UNITS, NONE = 0x1002, 0xFFFF  # CL_DEVICE_MAX_COMPUTE_UNITS, and no key of OpenCL


@pytest.fixture(autouse=True)
def processor():
    """Each test runs once: kernels for GPUs make no difference here."""


class Handle:
    """A device of a kind, with the attributes that its driver has."""

    def __init__(self, kind, extensions: str = "", **attributes: object) -> None:
        self.type, self.extensions = kind, extensions
        self.__dict__.update(attributes)


def of_amd(bus: int, device: int = 0, function: int = 0) -> Handle:
    return Handle(GPU, topology_amd=SimpleNamespace(bus=bus, device=device, function=function))


def of_nvidia(bus: int, slot: int = 0) -> Handle:
    return Handle(GPU, pci_domain_id_nv=0, pci_bus_id_nv=bus, pci_slot_id_nv=slot)


def of_mesa(bus: int) -> Handle:
    return Handle(GPU, "cl_khr_fp64 cl_khr_pci_bus_info", address=(0, bus, 0, 0))


@pytest.fixture
def bus_info(monkeypatch):
    """Let stubs answer the query of cl_khr_pci_bus_info."""
    monkeypatch.setattr(platforms, "info_of", lambda device, key, count: device.address)


def test_numbers_that_pyopencl_reads_too():
    for device in all_devices():
        assert info_of(device, MAX_COMPUTE_UNITS, 1) == (device.max_compute_units,)
        assert info_of(device, NONE, 1) is None


def test_the_address_of_a_card_is_the_same_for_all_drivers(bus_info):
    assert pci_address(of_amd(-125, 2, 1)) == (0, 0x83, 2, 1), "a char with a sign"
    assert pci_address(of_nvidia(3, 0b00010_001)) == (0, 3, 2, 1)
    assert pci_address(of_mesa(3)) == pci_address(of_amd(3)) == pci_address(of_nvidia(3)) == (0, 3, 0, 0)
    assert pci_address(Handle(GPU)) is None


@pytest.mark.parametrize(
    ("devices", "order"),
    [
        ([(of_amd(3), 1e12), (of_amd(4), 2e12)], [0, 1]),  # two cards
        ([(of_mesa(3), 1e12), (of_nvidia(4), 1e12), (of_nvidia(3), 9e12)], [2, 0, 1]),
        ([(Handle(CPU), 1e11), (Handle(GPU), 1e12), (Handle(CPU), 2e11), (Handle(GPU), 2e12)], [1, 3, 2, 0]),
        ([(Handle(ACCELERATOR), 1e12), (Handle(GPU), 1e11)], [1, 0]),
    ],
)
def test_drivers_of_one_card_follow_each_other_by_speed(bus_info, devices, order):
    assert _order([(handle, speed, None) for handle, speed in devices]) == order
