"""Two nodes of a Ray cluster on this machine: the cost of a boundary between them, and pipelines over both.

A boundary is compared with Ray's own means to bring as many bytes from one node to the other. As both nodes share the
cores, one pipeline computes, and another one sleeps for T seconds on each node; the ideal is T for each inference.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hetero import AsyncInferQueue, CompiledModel, Core, Model, Op, Parameter, Tensor, Type, ops
from hetero.graph.rt_info import AFFINITY
from tests import zoo
from tests.benchmarks.interleaved import Comparison, interleave

SIZES = (4 << 10, 64 << 10, 1 << 20, 8 << 20)
ROUNDS = 50
NETWORK = "resnet50"
INFERENCES = 16
IN_FLIGHT = 8
T = 0.05


def compare() -> Iterator[Comparison]:
    with _cluster():
        core = Core()
        for size in SIZES:
            yield _boundary(core, size)
        yield from _pipelines(core)


@contextlib.contextmanager
def _cluster() -> Iterator[None]:
    """A cluster of two nodes with one core each, which run subgraphs on TEMPLATE."""
    import ray
    from ray.cluster_utils import Cluster

    folder = tempfile.mkdtemp(prefix="ray", dir="/tmp")
    os.environ |= {"RAY_TMPDIR": folder, "HETERO_RAY_DEVICE": "TEMPLATE"}
    node = {"num_cpus": 1, "object_store_memory": 500 << 20}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    cluster.add_node(**node)
    os.environ["RAY_ADDRESS"] = cluster.address
    try:
        yield
    finally:
        ray.shutdown()
        cluster.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


def _boundary(core: Core, size: int) -> Comparison:
    """Compare two operations on one node and on two with Ray's own transfers. Outputs have one element."""
    import ray

    @ray.remote(num_cpus=0)
    class Node:
        def make(self, count: int) -> np.ndarray:
            return np.ones(count, np.float32)

        def take(self, array: np.ndarray) -> float:
            return float(array[0])

    x = np.ones([1], np.float32)
    count = size // 4
    requests = {
        nodes: core.compile_model(_model(count, nodes), "HETERO:RAY.0,RAY.1").create_infer_request() for nodes in (1, 2)
    }
    strategies = [device.placement.strategy for device in core.get_plugin("RAY").devices()]
    one, two = (Node.options(scheduling_strategy=strategy).remote() for strategy in strategies)
    array = np.ones(count, np.float32)
    found = interleave(
        f"{size >> 10} KiB",
        {
            "one node": lambda: requests[1].infer(x, True, True),
            "two nodes": lambda: requests[2].infer(x, True, True),
            "put and get": lambda: ray.get(ray.put(array)),
            "actor to actor": lambda: ray.get(two.take.remote(one.make.remote(count))),
        },
        ROUNDS,
    )
    added = found.medians["two nodes"] - found.medians["one node"]
    return found._replace(medians={"boundary": added, **found.medians})


def _model(count: int, nodes: int) -> Model:
    x = Parameter(Type.f32, [1])
    wide = ops.Tile(x, [count], name="wide")
    last = ops.ReduceMax(wide, [0], False, name="last")
    for index, node in enumerate((wide, last)):
        node.rt_info[AFFINITY] = f"RAY.{index * (nodes - 1)}"
    return Model(last, [x], f"{count} elements over {nodes} nodes")


class Sleep(Op):
    """Its input, after T seconds."""

    input_names = ("x",)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

    def evaluate(self, outputs: list[Tensor], inputs: list[Tensor]) -> bool:
        time.sleep(T)
        outputs[0].copy_from(inputs[0])
        return True


def _pipelines(core: Core) -> Iterator[Comparison]:
    """Compare one node with a pipeline over two, with the same number of requests in flight."""
    x = Parameter(Type.f32, [4])
    first = Sleep(x, name="first")
    sleeping = Model(Sleep(first, name="second"), [x], "sleeping")
    for name, model, feeds, options in (
        ("2 x T", sleeping, np.ones([4], np.float32), {"AFFINITIES": {"first": "RAY.0", "second": "RAY.1"}}),
        (
            NETWORK,
            core.read_model(zoo.path(NETWORK)),
            zoo.inputs(NETWORK),
            {"PLACEMENT": "PIPELINE", "INFERENCE_NUM_THREADS": 1},
        ),
    ):
        threads = {key: value for key, value in options.items() if key == "INFERENCE_NUM_THREADS"}
        candidates = {"one node": _in_flight(core.compile_model(model, "HETERO:RAY.0", threads), feeds)}
        candidates["two nodes"] = _in_flight(core.compile_model(model, "HETERO:RAY.0,RAY.1", options), feeds)
        yield interleave(f"{INFERENCES} x {name}", candidates, 5)


def _in_flight(compiled: CompiledModel, feeds: Any) -> Callable[[], None]:
    queue = AsyncInferQueue(compiled, IN_FLIGHT)

    def run() -> None:
        for _ in range(INFERENCES):
            queue.start_async(feeds)
        queue.wait_all()

    return run
