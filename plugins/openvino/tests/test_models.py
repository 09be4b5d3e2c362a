"""Models of the zoo on OPENVINO.CPU with other devices, compared with ONNX Runtime."""

import numpy as np
import pytest

from hetero import Core
from hetero.dispatch.affinity import is_placed
from hetero.graph.rt_info import AFFINITY
from tests import zoo
from tests.devices import GPUS
from tests.test_models import MAX_ERROR_OF_ONE_DEVICE, SEEDS, check

CPU = "OPENVINO.CPU"
# Operations are divided at random among all devices; without HETERO_SEEDS among those that build no kernels.
DIVISION = [CPU, *GPUS, "TEMPLATE"] if SEEDS else [CPU, "TEMPLATE"]
CUTS = [(name, seed) for name in zoo.ONNX for seed in range(min(SEEDS, 3) or 1)]


@pytest.fixture(scope="module")
def core():
    return Core()


@pytest.mark.parametrize(("name", "shape"), [(name, shape) for name in zoo.ONNX for shape in zoo.ONNX[name].shapes])
def test_models(core, name, shape):
    compiled = core.compile_model(zoo.path(name), f"HETERO:{CPU},TEMPLATE")
    found, expected = compiled(zoo.inputs(name, 0, shape)), zoo.expected(name, 0, shape)
    for output, array in expected.items():
        error = np.abs(found[output].astype(np.float64) - array).max()
        assert error <= MAX_ERROR_OF_ONE_DEVICE * np.abs(array).max()


@pytest.mark.parametrize(("name", "seed"), CUTS)
def test_random_affinity_for_every_node(core, name, seed):
    model = core.read_model(zoo.path(name))
    generator = np.random.default_rng(seed)
    queries = {device: core.query_model(model, device) for device in DIVISION}
    for node in model.get_ordered_ops():
        if is_placed(node):
            supporting = [device for device, claimed in queries.items() if node.friendly_name in claimed]
            node.rt_info[AFFINITY] = supporting[generator.integers(len(supporting))]
    check(core, model, f"HETERO:{','.join(DIVISION)}", name, zoo.MODELS[name].shapes[0])
