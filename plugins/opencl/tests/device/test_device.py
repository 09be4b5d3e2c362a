"""Discovery of devices, their properties, and the file cache of kernel binaries."""

import gc

import numpy as np
import pyopencl as cl
import pytest

import hetero
from hetero import Model, Parameter, Type, ops
from hetero.system.errors import DeviceError, PropertyError
from tests.interpreter import run_python

CORE = hetero.Core()


@pytest.mark.slow
def test_without_a_platform_the_device_is_unavailable(tmp_path):
    code = (
        "import hetero; core = hetero.Core(); x = hetero.Parameter(hetero.Type.f32, [1])\n"
        "print('GPU' in core.available_devices, 'TEMPLATE' in core.available_devices)\n"
        "print(core.unavailable_devices['GPU'])\n"
        "try: core.compile_model(hetero.Model(x, [x]), 'GPU')\n"
        "except hetero.HeteroError as error: print(type(error).__name__, error)"
    )
    # A missing file, not a folder: for a folder the loader in pyopencl's wheel adds the platform of that wheel.
    first, reason, raised = run_python(code, OCL_ICD_VENDORS=str(tmp_path / "none.icd"))[0].splitlines()
    assert first == "False True"
    assert "OpenCL platform" in reason
    assert raised.startswith("DeviceError device GPU is not available") and reason in raised


@pytest.mark.slow
def test_the_package_is_light_until_the_device_is_used():
    assert run_python("import sys, hetero_opencl; print('pyopencl' in sys.modules)")[0] == "False"


PRODUCT = """
import numpy as np, hetero
from hetero import ops
x = hetero.Parameter(hetero.Type.f32, [1, 8])
product = ops.MatMul(x, np.ones((8, 2), np.float32), False, False)
print(hetero.Core().compile_model(hetero.Model(product, [x]), "GPU")(np.ones((1, 8), np.float32))[0])
"""


@pytest.mark.slow
def test_kernel_sources_are_read_in_any_locale():
    """The source of this kernel has non-ASCII characters in its comments."""
    assert run_python(PRODUCT, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")[0] == "[[8. 8.]]"


def test_properties(device):
    assert CORE.get_property(device, "DEVICE_TYPE") in ("integrated", "discrete")
    assert "FP32" in CORE.get_property(device, "OPTIMIZATION_CAPABILITIES")
    name = CORE.get_property(device, "FULL_DEVICE_NAME")
    assert name.endswith(")") and CORE.get_property(device, "DEVICE_ARCHITECTURE")
    assert "PERF_COUNT" in CORE.get_property(device, "SUPPORTED_PROPERTIES")
    sizes = {handle.global_mem_size for platform in cl.get_platforms() for handle in platform.get_devices()}
    assert CORE.get_property(device, "GPU_DEVICE_TOTAL_MEM_SIZE") in sizes


def exponential(device, **options):
    x = Parameter(Type.f32, [4])
    return CORE.compile_model(Model(ops.Exp(x), [x]), device, options)


def test_the_optimal_number_of_requests_is_that_of_streams(device):
    assert exponential(device, NUM_STREAMS=3).get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS") == 3


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("GPU.77", {}, DeviceError, "there is no device GPU.77"),
        ("GPU", {"PERF_COUNT": "perhaps"}, PropertyError, "PERF_COUNT .* cannot be 'perhaps'"),
        ("GPU", {"PERF_COUNTS": True}, PropertyError, "did you mean PERF_COUNT"),
    ],
)
def test_mistakes(name, options, error, message):
    with pytest.raises(error, match=message):
        exponential(name, **options)


RUN = """
import numpy as np, hetero
from hetero import ops
x = hetero.Parameter(hetero.Type.f32, [4])
print(hetero.Core().compile_model(hetero.Model(ops.Exp(x), [x]), "GPU", {"CACHE_DIR": FOLDER})(np.zeros(4, np.float32))[0])
"""  # noqa: E501


def damaged(content: bytes) -> dict[str, bytes]:
    half = len(content) // 2
    return {
        "empty": b"", "short": content[:20], "cut": content[:half], "of another kind": b"x" * 1000,
        "altered": content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :],
    }  # fmt: skip


@pytest.mark.slow
def test_cached_kernels_are_used_and_damaged_ones_rebuilt(tmp_path):
    """The model cache is removed after each run, because a cached model contains its kernels."""

    def run() -> str:
        printed, _ = run_python(RUN.replace("FOLDER", repr(str(tmp_path))))
        for model in tmp_path.glob("*.blob"):
            model.unlink()
        return printed

    expected = run()
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    written = file.stat().st_mtime_ns
    assert run() == expected
    assert file.stat().st_mtime_ns == written
    for kind, bad in damaged(content).items():
        file.write_bytes(bad)
        assert run() == expected, kind
        assert [f.name for f in tmp_path.iterdir()] == [file.name]
        assert file.read_bytes() not in (bad, b""), kind


def test_an_unwritable_cache_folder_is_no_error(device, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    found = exponential(device, CACHE_DIR=str(blocked))(np.zeros(4, np.float32))[0]
    np.testing.assert_array_equal(found, np.ones(4, np.float32))


def test_a_model_that_is_compiled_again_loads_no_program(device, monkeypatch):
    exponential(device)
    gc.collect()  # the compiled model is gone
    monkeypatch.setattr(cl.Program, "build", lambda *args, **kwargs: pytest.fail("a program was loaded again"))
    exponential(device)(np.zeros(4, np.float32))


@pytest.mark.parametrize("kind, is_refused", [(Type.i64, True), (Type.u8, False), (Type.f32, False)])
@pytest.mark.parametrize("apply", [lambda x: ops.ReduceL2(x, [0], False), ops.Exp], ids=["ReduceL2", "Exp"])
@pytest.mark.usefixtures("without_f64")
def test_operations_that_compute_in_f64_are_refused_without_it(device, apply, kind, is_refused):
    x = Parameter(kind, [4])
    node = apply(x)
    refused = CORE.query_model(Model(node, [x]), device).refused
    assert (node.friendly_name in refused) is is_refused
    assert "no f64" in refused.get(node.friendly_name, "no f64")


@pytest.mark.usefixtures("without_f64")
def test_mel_weights_are_refused_without_f64(device):
    rate = Parameter(Type.i64, [])
    node = ops.MelWeightMatrix(np.array(8), np.array(16), rate, np.float32(0), np.float32(4000), Type.f32)
    assert "no f64" in CORE.query_model(Model(node, [rate]), device).refused[node.friendly_name]
