"""Random graphs on the real devices: wherever each operation runs, the results are TEMPLATE's."""

import numpy as np
import pytest

from hetero import Core
from hetero.graph import is_terminal
from hetero.graph.rt_info import AFFINITY
from tests.devices import ALL_KINDS
from tests.dispatch.random_devices import REAL_OF_TABLE, WHOLE_OF_TABLE, RandomGraph
from tests.tiers import IS_FULL

CORE = Core()


def placed(graph):
    """Pin each operation to one of the devices whose query names it."""
    able = {device: CORE.query_model(graph.model, device) for device in ALL_KINDS}
    for node in graph.model.get_ordered_ops():
        if not is_terminal(node):
            devices = [device for device in ALL_KINDS if node.friendly_name in able[device]]
            node.rt_info[AFFINITY] = devices[graph.generator.integers(len(devices))]


def check(graph):
    inputs = graph.inputs()
    expected = CORE.compile_model(graph.model, "TEMPLATE")(inputs).to_tuple()
    placed(graph)
    compiled = CORE.compile_model(graph.model, f"HETERO:{','.join(ALL_KINDS)}")
    assert compiled.get_property("PLACEMENT_REPORT").failures == ()  # no device fails at what it accepted
    found = compiled(inputs).to_tuple()
    for index, (one, other) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3, err_msg=f"output {index}")


@pytest.mark.own_sample
@pytest.mark.parametrize("seed", range(500 if IS_FULL else 12))
def test_results_are_those_of_the_reference(seed):
    check(RandomGraph(seed))


@pytest.mark.own_sample
@pytest.mark.parametrize("seed", range(100 if IS_FULL else 3))
def test_results_of_operations_of_the_table_are_those_of_the_reference(seed):
    check(RandomGraph(1000 + seed, 10, WHOLE_OF_TABLE, REAL_OF_TABLE))
