"""An operation gets its next implementation if the driver does not build the kernels of the first one."""

import weakref

import numpy as np
import pyopencl as cl
import pytest
from hetero_opencl.device.compiler import Compiler
from hetero_opencl.device.device import present_devices

from hetero import Core, Model, Parameter, Type, ops
from hetero.system.errors import DeviceError

CORE = Core()
RNG = np.random.default_rng(0)
LEFT, RIGHT = (RNG.standard_normal(shape).astype(np.float32) for shape in ((64, 96), (96, 80)))


@pytest.fixture(autouse=True)
def processor():
    """Each test runs once: operations have one implementation for GPUs."""


@pytest.fixture
def one(device, monkeypatch):
    """Return the device, with nothing loaded and no failure known."""
    found = next(each for each in present_devices().usable if device in ("GPU", f"GPU.{each.id}"))
    monkeypatch.setattr(found, "loaded_programs", weakref.WeakValueDictionary())
    monkeypatch.setattr(found, "failed_choices", set())
    return found


@pytest.fixture
def reject(monkeypatch):
    """Return a function after which the compiler rejects sources with one of these kernels. It returns them."""

    def use(*kernels: str) -> list[str]:
        build_all, rejected = Compiler.build_all, []

        def build(self, requests):
            requests = list(requests)
            faulty = [request for request in requests if any(f"void {kernel}(" in request.source for kernel in kernels)]
            rejected.extend(request.source for request in faulty)
            built = iter(build_all(self, [request for request in requests if request not in faulty]))
            error = cl.RuntimeError("clBuildProgram failed\nerror: no such instruction")
            return [error if request in faulty else next(built) for request in requests]

        monkeypatch.setattr(Compiler, "build_all", build)
        return rejected

    return use


def product(name: str = "product") -> Model:
    left, right = Parameter(Type.f32, LEFT.shape), Parameter(Type.f32, RIGHT.shape)
    return Model(ops.Tanh(ops.MatMul(left, right, False, False, name=name)), [left, right])


def kernels_of(compiled) -> set[str]:
    nodes = compiled.get_runtime_model().get_ordered_ops()
    return {kernel for node in nodes for kernel in node.get_rt_info().get("primitiveType", "").split("+")}


def test_the_next_implementation_takes_over(device, one, reject, tmp_path, caplog):
    rejected = reject("packed_gemm")
    compiled = CORE.compile_model(product(), device, {"CACHE_DIR": str(tmp_path)})
    np.testing.assert_allclose(compiled([LEFT, RIGHT])[0], np.tanh(LEFT @ RIGHT), rtol=1e-4, atol=1e-5)
    assert len(rejected) == 1
    (warning,) = [record.getMessage() for record in caplog.records if "implementation" in record.getMessage()]
    assert warning.startswith(
        f"{one.full_name} cannot build the kernel of MatMul 'product': error: no such instruction"
    )
    assert warning.endswith("the next implementation takes the place of PackedGemm, kernel packed_gemm")
    CORE.compile_model(product("again"), device, {"CACHE_DIR": str(tmp_path)})
    assert len(rejected) == 1, "what does not build is not tried again"
    assert len([record for record in caplog.records if "implementation" in record.getMessage()]) == 1


def test_without_another_implementation_the_error_is_that_of_the_compiler(device, one, reject, tmp_path):
    reject("packed_gemm", "gemm")
    with pytest.raises(DeviceError, match="cannot build the kernel of MatMul 'product': error: no such instruction"):
        CORE.compile_model(product(), device, {"CACHE_DIR": str(tmp_path)})
    compiled = CORE.compile_model(product(), f"HETERO:{device},TEMPLATE", {"CACHE_DIR": str(tmp_path)})
    np.testing.assert_allclose(compiled([LEFT, RIGHT])[0], np.tanh(LEFT @ RIGHT), rtol=1e-4, atol=1e-5)


def test_operations_of_a_merged_launch_are_judged_alone(device, one, reject, tmp_path, caplog):
    """The kernel that does not build is one of the two that are merged."""
    x = Parameter(Type.f32, (1, 16, 20, 20))
    filters = RNG.standard_normal((32, 16, 3, 3)).astype(np.float32)
    arguments = [1, 1], [1, 1], [1, 1], [1, 1]
    first = ops.Convolution(x, filters, *arguments)
    model = Model(ops.Convolution(first, RNG.standard_normal((32, 32, 3, 3)).astype(np.float32), *arguments), [x])
    array = RNG.standard_normal((1, 16, 20, 20)).astype(np.float32)
    expected = CORE.compile_model(model, "TEMPLATE")(array)[0]
    rejected = reject("blocked_convolution", "merged")
    compiled = CORE.compile_model(model, device, {"CACHE_DIR": str(tmp_path)})
    np.testing.assert_allclose(compiled(array)[0], expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    assert ["void merged(" in source for source in rejected] == [True, False]
