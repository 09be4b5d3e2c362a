"""Models of the zoo over nodes of a cluster, compared with ONNX Runtime or LiteRT."""

import pytest

from tests import zoo
from tests.devices import ALL_KINDS, MEDIAPIPE_OPERATORS
from tests.test_models import MAX_ERROR, check, check_random_affinities
from tests.test_models import NAMES as ALL_NAMES
from tests.tiers import IS_FULL

pytestmark = pytest.mark.slow

# Outside the full tier a sample, as the tests take long.
NAMES = ALL_NAMES if IS_FULL else ["squeezenet", "voice_activity", "magika"]


@pytest.fixture
def core(core):
    core.add_extension(MEDIAPIPE_OPERATORS)
    return core


@pytest.mark.parametrize("name", NAMES)
def test_on_a_node(core, name):
    model, shape = core.read_model(zoo.path(name)), zoo.MODELS[name].shapes[0]
    check(core, model, "HETERO:RAY.0,TEMPLATE", name, shape, MAX_ERROR)


@pytest.mark.parametrize("name", NAMES)
def test_in_a_pipeline_over_two_nodes(core, name):
    model, shape = core.read_model(zoo.path(name)), zoo.MODELS[name].shapes[0]
    core.set_property("HETERO", {"PLACEMENT": "PIPELINE"})
    check(core, model, "HETERO:RAY.0,RAY.1", name, shape, MAX_ERROR)


@pytest.mark.parametrize("seed", range(3 if IS_FULL else 1))
@pytest.mark.parametrize("name", NAMES)
def test_a_random_device_for_every_operation(core, name, seed):
    check_random_affinities(core, f"RAY.0,RAY.1,{','.join(ALL_KINDS)}", name, seed)
