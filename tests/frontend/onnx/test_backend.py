"""The ONNX project's backend cases, on TEMPLATE, on GPU, and on both together.

Those that fail on TEMPLATE are listed, with the reason, in backend_failures.txt; on both together the same fail, and no
others. Those that GPU alone refuses are listed in backend_refused_by_gpu.txt, in its words. A listed case that passes,
or fails otherwise than listed, fails the test as one does that is not listed and breaks. The summary tells the counts.
"""

from pathlib import Path

import pytest
from onnx.backend.test.case.test_case import TestCase

from hetero import CompiledModel, Core
from hetero.conformance import onnx_cases
from hetero.reference import random
from hetero.system.errors import GraphError, UnsupportedOperationError
from tests.devices import GPUS
from tests.frontend.onnx.backend import DIFFERS, NOT_TRANSLATED, PASSES, REFUSED_BY_GPU, cases, outcome, run_case
from tests.tiers import in_sample


def read_list(file: Path) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in file.read_text().splitlines() if line and not line.startswith("#"))


FAILING = read_list(Path(__file__).parent / "backend_failures.txt")
REFUSED = read_list(REFUSED_BY_GPU)
# Better than OpenVINO 2026.4, which passes 1,409 of the 2,024 of onnx 1.23, and onnx's own evaluator, with 1,810.
CORE = Core()
LEAST = {"TEMPLATE": 1930, "GPU": 1930}


def expected(name: str, device: str) -> str:
    if device in GPUS and name in REFUSED:
        return REFUSED[name]
    if name in FAILING:
        return NOT_TRANSLATED if "not translated" in FAILING[name] else DIFFERS
    return PASSES


@pytest.fixture(autouse=True)
def same_every_time(monkeypatch):
    """Fix the seeds of random operators, so that no case passes by chance."""
    monkeypatch.setattr(random.secrets, "randbits", lambda bits: 1)


pytestmark = pytest.mark.own_sample


def runs() -> list[tuple[str, str]]:
    """Return cases and devices: all cases on TEMPLATE, and in the full tier on each device.

    Else one of 10 cases runs on an OpenCL device, one of 20 on HETERO and one of 60 on further OpenCL devices: kernels
    take long to build.
    """
    fractions = {"TEMPLATE": 1, f"HETERO:{GPUS[0]},TEMPLATE": 20, GPUS[0]: 10} | dict.fromkeys(GPUS[1:], 60)
    return [
        (name, device)
        for name in cases()
        for device, one_in in fractions.items()
        if in_sample(f"{name} on {device}", one_in)
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "device"), runs())
def test_case(name, device, record_property):
    record_property("ONNX backend case on", device)
    wanted = expected(name, device)
    if wanted == PASSES:
        run_case(cases()[name], device)
    else:
        assert outcome(cases()[name], device) == wanted
    record_property("ONNX backend case", wanted)


def compile_for_any_shape(case: TestCase, device: str) -> CompiledModel:
    model = onnx_cases.read_case(CORE, case)
    model.reshape({index: [-1] * len(port.partial_shape) for index, port in enumerate(model.inputs)})
    return CORE.compile_model(model, device)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [name for name in cases() if in_sample(f"{name} of any shape", 30) and expected(name, GPUS[0]) == PASSES],
)
@pytest.mark.parametrize("device", [GPUS[0], "HETERO:ONEDNN,TEMPLATE"])
def test_case_of_any_shape(name, device):
    """All dimensions of the inputs are dynamic, so that devices run programs for the class of the shapes.

    What cannot be compiled so, such as a body whose shapes must be static, is refused by TEMPLATE too.
    """
    refusals = (GraphError, UnsupportedOperationError)
    try:
        compiled = compile_for_any_shape(cases()[name], device)
    except refusals:
        with pytest.raises(refusals):
            compile_for_any_shape(cases()[name], "TEMPLATE")
    else:
        onnx_cases.check_case(compiled, cases()[name])


@pytest.mark.parametrize(("device", "listed"), [("TEMPLATE", FAILING), ("GPU", FAILING | REFUSED)])
def test_enough_cases_pass(device, listed):
    assert listed.keys() <= cases().keys(), "a listed case does not exist"
    assert (len(cases()) - len(listed)) / len(cases()) >= LEAST[device] / 2024
