"""Models of the zoo on all devices and placements, compared with ONNX Runtime or LiteRT."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from hetero import Core, Model
from hetero.graph import Node, is_terminal
from hetero.graph.rt_info import AFFINITY
from tests import zoo
from tests.devices import ALL_KINDS, ENGINES, GPUS, MEDIAPIPE_OPERATORS, PickyPlugin, core_with
from tests.tiers import IS_FULL, SEEDS, in_sample

# The maximum error relative to the largest magnitude of an output; random divisions compute in many more orders.
MAX_ERROR = 1e-4
MAX_ERROR_OF_DIVISIONS = 1e-3
# Devices among which operations are divided at random: a GPU and TEMPLATE, four like TEMPLATE, or one of each kind.
DIVISIONS = [*(f"{gpu},TEMPLATE" for gpu in GPUS), "A,B,C,D", ",".join(ALL_KINDS)]
# Outside the full tier, further OpenCL devices run a twelfth of the models in their usual shape, and not with another
# device; the other devices a quarter of the models in all shapes.
FULLY_TESTED, FURTHER = (GPUS, []) if IS_FULL else (GPUS[:1], GPUS[1:])
DEVICES = [
    "TEMPLATE",
    *(name.format(gpu) for gpu in FULLY_TESTED for name in ("{}", "HETERO:{},TEMPLATE")),
    *(f"HETERO:{engine},TEMPLATE" for engine in ENGINES),
]
# TEMPLATE takes all operations.
TEMPLATE_FIRST = f"HETERO:TEMPLATE,{GPUS[0]}"
# Outside the full tier some TensorFlow Lite models; tests/frontend/tflite/test_zoo_models.py runs all on each device.
NAMES = [*zoo.ONNX, *(zoo.TFLITE if IS_FULL else ("basic_pitch_lite", "face_detection", "hand_recrop"))]
CASES = [(name, shape, device) for name, model in zoo.ONNX.items() for shape in model.shapes for device in DEVICES]
CASES += [(name, model.shapes[0], TEMPLATE_FIRST) for name, model in zoo.ONNX.items()]
CASES = [case for case in CASES if case[2] == "TEMPLATE" or in_sample(f"{case}", 4)]
CASES += [
    (name, model.shapes[0], device)
    for name, model in zoo.ONNX.items()
    for device in FURTHER
    if in_sample(f"{name} on {device}", 12)
]

# Shapes of models with dynamic dimensions that one compiled model runs besides their own.
FURTHER_SHAPES: dict[str, tuple[zoo.Shape, ...]] = {
    "ocr_detection": ((1, 3, 96, 160), (1, 3, 32, 320)),
    "ocr_recognition": ((1, 3, 48, 200), (1, 3, 48, 72), (3, 3, 48, 320)),
    "ocr_direction": ((2, 3, 48, 192),),
    "magika": ((2, 2048), (17, 2048)),
    "voice_activity": ((2, 512),),
    "basic_pitch": ((2, 43844, 1),),
}
ANY_SHAPE_CASES = [
    (name, device)
    for name in FURTHER_SHAPES
    for device in (*GPUS, *(f"HETERO:{first},TEMPLATE" for first in (GPUS[0], *ENGINES)))
    if in_sample(f"all shapes of {name} on {device}", 4)
]

pytestmark = pytest.mark.own_sample


def cuts() -> list[tuple[str, str, int]]:
    """Return models, devices and seeds; outside the full tier, one of six or twelve models for each division."""
    often = (DIVISIONS[0], DIVISIONS[-2])
    return [
        (name, division, seed)
        for division in DIVISIONS
        for name in NAMES
        if in_sample(f"{name} on {division}", 6 if division in often else 12)
        for seed in range(SEEDS or 1)
    ]


@pytest.fixture(scope="module")
def core():
    core = core_with(**{name: PickyPlugin() for name in "ABCD"})
    core.add_extension(MEDIAPIPE_OPERATORS)
    return core


def check(core: Core, model: Model, device: str, name: str, shape: tuple[int, ...], max_error: float) -> None:
    compiled = core.compile_model(model, device)
    if device.startswith("HETERO"):  # no device fails at what it accepted
        assert compiled.get_property("PLACEMENT_REPORT").failures == ()
    check_results(compiled(zoo.inputs(name, 0, shape)), name, shape, max_error)


def check_results(found: Mapping[Any, np.ndarray], name: str, shape: tuple[int, ...], max_error: float) -> None:
    max_error = max(max_error, zoo.MAX_ERRORS.get(name, 0))
    for output, array in zoo.expected(name, 0, shape).items():
        assert found[output].shape == array.shape
        assert np.abs(found[output].astype(np.float64) - array).max() <= max_error * np.abs(array).max()


def check_random_affinities(core: Core, division: str, name: str, seed: int) -> None:
    """Check a model of which each operation is on a random device of those that support it."""
    model = core.read_model(zoo.path(name))
    generator = np.random.default_rng(seed)
    # ONEDNN runs Erf only as a part of Gelu, from which the division may separate it.
    options = {"ONEDNN": {"DISABLED_PASSES": ["fuse_gelu"]}}
    queries = {device: core.query_model(model, device, options.get(device, {})) for device in division.split(",")}
    groups: dict[str, list[Node]] = {}
    for node in model.get_ordered_ops():
        if not is_terminal(node):  # operations on one variable must be on one device
            groups.setdefault(getattr(node, "variable_id", node.friendly_name), []).append(node)
    for group in groups.values():
        names = {node.friendly_name for node in group}
        supporting = [device for device, claimed in queries.items() if names <= claimed.keys()]
        affinity = supporting[generator.integers(len(supporting))]
        for node in group:
            node.rt_info[AFFINITY] = affinity
    check(core, model, f"HETERO:{division}", name, zoo.MODELS[name].shapes[0], MAX_ERROR_OF_DIVISIONS)


@pytest.mark.parametrize(
    ("name", "shape", "device"), CASES, ids=lambda v: v if isinstance(v, str) else "x".join(map(str, v))
)
def test_devices(core, name, shape, device):
    check(core, core.read_model(zoo.path(name)), device, name, shape, MAX_ERROR)


@pytest.mark.parametrize(("name", "device"), ANY_SHAPE_CASES)
def test_one_compiled_model_runs_all_shapes(core, name, device):
    request = core.compile_model(core.read_model(zoo.path(name)), device).create_infer_request()
    shapes = zoo.MODELS[name].shapes + FURTHER_SHAPES[name]
    for shape in (*shapes, *shapes):
        check_results(request.infer(zoo.inputs(name, 0, shape)), name, shape, MAX_ERROR)


@pytest.mark.parametrize(("name", "division", "seed"), cuts())
def test_random_affinity_for_every_node(core, name, division, seed):
    check_random_affinities(core, division, name, seed)
