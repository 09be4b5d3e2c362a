"""Models of the zoo over nodes of a cluster, compared with ONNX Runtime or LiteRT."""

import os

import numpy as np
import pytest

from hetero.dispatch.affinity import is_placed
from hetero.graph.rt_info import AFFINITY
from tests import zoo
from tests.test_models import LITE, check

SEEDS = int(os.environ.get("HETERO_SEEDS", "0"))
# Without HETERO_SEEDS a sample, as the tests take long.
NAMES = [*zoo.ONNX, *LITE] if SEEDS else ["squeezenet", "voice_activity", "magika"]
DEVICES = ("RAY.0", "RAY.1", "TEMPLATE")


@pytest.mark.parametrize("name", NAMES)
def test_on_a_node(core, name):
    model, shape = core.read_model(zoo.path(name)), zoo.MODELS[name].shapes[0]
    check(core, model, "HETERO:RAY.0,TEMPLATE", name, shape)


@pytest.mark.parametrize("name", NAMES)
def test_in_a_pipeline_over_two_nodes(core, name):
    model, shape = core.read_model(zoo.path(name)), zoo.MODELS[name].shapes[0]
    core.set_property("HETERO", {"PLACEMENT": "PIPELINE"})
    check(core, model, "HETERO:RAY.0,RAY.1", name, shape)


@pytest.mark.parametrize("seed", range(3 if SEEDS else 1))
@pytest.mark.parametrize("name", NAMES)
def test_a_random_device_for_every_operation(core, name, seed):
    model = core.read_model(zoo.path(name))
    generator = np.random.default_rng(seed)
    queries = {device: core.query_model(model, device) for device in DEVICES}
    for node in filter(is_placed, model.get_ordered_ops()):
        supporting = [device for device, found in queries.items() if node.friendly_name in found]
        node.rt_info[AFFINITY] = supporting[generator.integers(len(supporting))]
    check(core, model, f"HETERO:{','.join(DEVICES)}", name, zoo.MODELS[name].shapes[0])
