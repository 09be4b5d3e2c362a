"""Implementations: one from outside of the package, and each of the package's own forced in turn."""

from pathlib import Path
from types import SimpleNamespace

import hetero_opencl
import numpy as np
import pytest
from hetero_opencl.kernels.common import definition
from hetero_opencl.lowering.implementation import Implementation
from hetero_opencl.profiles.profile import Family

from hetero import Core, Model, Parameter, Type, ops
from tests import zoo
from tests.devices import GPUS
from tests.tiers import IS_FULL

# Models in which an implementation runs at least one operation. In the full tier, all models with all implementations.
SAMPLE = {
    "BlockedConvolution": "squeezenet",
    "BlockedDepthwise": "shufflenet",
    "BlockedPooling": "squeezenet",
    "ChannelMovement": "shufflenet",
    "LoweringFunction": "ocr_direction",
    "RowConvolution": "basic_pitch",
    "SparseConvolution": "shufflenet",
}
MAX_ERROR = 1e-4


def own_implementations() -> dict[str, type[Implementation]]:
    """Return the classes of all implementations by name."""
    registered = (one for several in definition._implementations.values() for one in several)
    return {type(one).__name__: type(one) for one in registered} | {"LoweringFunction": definition.LoweringFunction}


CASES = [(name, model) for name in own_implementations() for model in zoo.ONNX] if IS_FULL else list(SAMPLE.items())


@pytest.fixture(autouse=True, params=[None])
def processor():
    """Only with the kernels of the device."""


@pytest.mark.parametrize(("name", "model"), CASES)
def test_forced_on_a_model(force, name, model):
    """Relative to the largest magnitude of each output, as in tests/test_models.py."""
    force(own_implementations()[name])
    compiled = Core().compile_model(zoo.path(model), GPUS[0], {"PERF_COUNT": True})
    found = compiled(zoo.inputs(model))
    for output, array in zoo.expected(model).items():
        assert np.abs(found[output].astype(np.float64) - array).max() <= MAX_ERROR * np.abs(array).max()


def test_from_outside_of_the_package(monkeypatch):
    monkeypatch.setattr(definition, "_implementations", {**definition._implementations})

    @definition.implements(ops.SoftPlus)
    class TableSoftplus(Implementation):
        """Stands for a user's own kernel, which is said to be the fastest."""

        def estimate(self, operation, signature, configuration, profile):
            return 0.0

        def emit(self, lowering, operation, signature, configuration):
            source = "kernel void users_softplus(global const float *x, global float *y) {"
            source += " int i = get_global_id(0); y[i] = log1p(exp(x[i])); }"
            value = operation.source(0)
            lowering.launch(source, "users_softplus", [value, operation.result], [int(np.prod(value.shape))])

    x = Parameter(Type.f32, [3, 5])
    compiled = Core().compile_model(Model(ops.SoftPlus(x), [x]), GPUS[0], {"PERF_COUNT": True})
    request = compiled.create_infer_request()
    data = np.linspace(-3, 3, 15, dtype=np.float32).reshape(3, 5)
    np.testing.assert_allclose(request.infer([data])[0], np.log1p(np.exp(data)), rtol=1e-5)
    assert "users_softplus" in [info.exec_type for info in request.get_profiling_info()]


def test_only_the_table_of_implementations_depends_on_the_family_of_a_device():
    """Kernels are written for a family; what they compute otherwise depends on figures of the profile."""
    folder = Path(hetero_opencl.__file__).parent
    users = {str(path.relative_to(folder)) for path in folder.rglob("*.py") if ".family" in path.read_text("utf-8")}
    assert users == {"kernels/common/definition.py", "lowering/implementation.py", "profiles/profile.py"}


def test_a_function_has_another_definition_for_gpus():
    @definition.by_family
    def describe(lowering, name, *, suffix=""):
        return f"{name} on a processor{suffix}"

    @describe.on_gpus
    def _describe_on_gpu(lowering, name, *, suffix=""):
        return f"{name} on a GPU{suffix}"

    on_processor, on_gpu = (SimpleNamespace(profile=SimpleNamespace(family=family)) for family in Family)
    assert describe(on_processor, "sum", suffix="!") == "sum on a processor!"
    assert describe(on_gpu, "sum") == "sum on a GPU" == _describe_on_gpu(on_gpu, "sum")
    assert describe.__name__ == "describe"
