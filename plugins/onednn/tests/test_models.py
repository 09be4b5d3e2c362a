"""Models of the zoo on ONEDNN, compared with ONNX Runtime or LiteRT."""

import os

import numpy as np
import pytest

from hetero import Core
from hetero.dispatch.affinity import is_placed
from hetero.graph.rt_info import AFFINITY
from tests import zoo
from tests.devices import GPUS
from tests.test_models import check

# Without HETERO_SEEDS one random division of each third model, as they take long.
SEEDS = int(os.environ.get("HETERO_SEEDS", "0"))
DEVICES = ("ONEDNN", GPUS[0], "TEMPLATE")
DIVIDED = list(zoo.ONNX) if SEEDS else list(zoo.ONNX)[::3]
# The error relative to the largest magnitude of an output: bf16 has 8 bits.
MAX_ERROR_OF_BF16 = 0.05
LITE = ("basic_pitch_lite", "face_detection", "hand_recrop", "iris_landmark")


@pytest.fixture(scope="module")
def core():
    return Core()


@pytest.mark.parametrize("name", [*zoo.ONNX, *LITE])
def test_zoo(core, name):
    model = core.read_model(zoo.path(name))
    for shape in zoo.MODELS[name].shapes:
        check(core, model, "HETERO:ONEDNN,TEMPLATE", name, shape)


@pytest.mark.parametrize("seed", range(max(1, SEEDS)))
@pytest.mark.parametrize("name", DIVIDED)
def test_random_device_for_every_node(core, name, seed):
    model = core.read_model(zoo.path(name))
    generator = np.random.default_rng(seed)
    # ONEDNN runs Erf as a part of Gelu only, from which the random division would separate it.
    options = {"ONEDNN": {"DISABLED_PASSES": ["fuse_gelu"]}}
    queries = {device: core.query_model(model, device, options.get(device, {})) for device in DEVICES}
    for node in model.get_ordered_ops():
        if is_placed(node):
            supporting = [device for device, claimed in queries.items() if node.friendly_name in claimed]
            node.rt_info[AFFINITY] = supporting[generator.integers(len(supporting))]
    check(core, model, f"HETERO:{','.join(DEVICES)}", name, zoo.MODELS[name].shapes[0])


@pytest.mark.parametrize("name", ["resnet50", "ocr_recognition", "shufflenet"])
def test_bf16(core, name):
    """Without bf16 in the processor, oneDNN computes in f32 what it cannot, or the operations go to TEMPLATE."""
    model = core.read_model(zoo.path(name))
    options = {"DEVICE_PROPERTIES": {"ONEDNN": {"INFERENCE_PRECISION_HINT": "bf16"}}}
    found = core.compile_model(model, "HETERO:ONEDNN,TEMPLATE", options)(zoo.inputs(name))
    for output, array in zoo.expected(name).items():
        assert np.abs(found[output] - array).max() <= MAX_ERROR_OF_BF16 * np.abs(array).max()
