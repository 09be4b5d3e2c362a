"""The Ray cluster: how it is found, and its nodes or the bundles of a placement group."""

from __future__ import annotations

import importlib.util
import logging
import os
import socket
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hetero.plugin import ForkGuard
from hetero.system.errors import DeviceError, reason_of

NO_CLUSTER = "no Ray cluster: start one with `ray start --head`, or set RAY_ADDRESS"
#: Environment variable with the name of a placement group; its bundles are the devices then, not the nodes.
PLACEMENT_GROUP = "HETERO_RAY_PLACEMENT_GROUP"
# Seconds to wait for the connection to a cluster's port.
_CONNECT_TIMEOUT = 2.0
# The resource that Ray gives to the node that was started with --head.
_HEAD = "node:__internal_head__"
# A connection does not work in forked processes.
_fork_guard = ForkGuard("Ray", "the connection to the cluster was made")


@dataclass(frozen=True)
class Placement:
    """A place for an actor: a node of the cluster, or a bundle of a placement group."""

    #: Identifies the place among those of all clusters.
    key: str
    address: str
    cpus: int
    #: Ray's scheduling strategy of the actor.
    strategy: Any = field(compare=False)


def connect() -> None:
    """Connect to the cluster; a connection that the user made is used.

    Raises DeviceError, within milliseconds and without importing ray, if there is no cluster.
    """
    if importlib.util.find_spec("ray") is None:
        raise DeviceError("the package ray is missing: pip install ray")
    if not _is_connected():
        address = _address()
        _check_answers(address)
        try:
            import ray
        except Exception as error:  # a broken library raises more than ImportError
            install = "pip install --upgrade --force-reinstall ray"
            raise DeviceError(f"ray cannot be imported ({reason_of(error)}): install it by {install}") from error
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    check_connection()
    _fork_guard.watch()


def _is_connected() -> bool:
    ray = sys.modules.get("ray")
    return ray is not None and ray.is_initialized()


def check_connection() -> None:
    """Raise DeviceError if this process is not connected. Ray would start a cluster at the next call, or hang."""
    import ray

    if not ray.is_initialized():
        raise DeviceError("the connection to the Ray cluster was closed")
    _fork_guard.check()


def placements() -> Sequence[Placement]:
    """Return the places for actors, the head node first. Raises DeviceError for an unknown placement group."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    alive = {node["NodeID"]: node for node in ray.nodes() if node["Alive"]}
    if group := os.environ.get(PLACEMENT_GROUP):
        return _bundles(group, alive)
    return [
        Placement(
            f"{_job()} {node['NodeID']}",
            node["NodeManagerAddress"],
            _cpus(node["Resources"]),
            NodeAffinitySchedulingStrategy(node["NodeID"], False),
        )
        for node in sorted(alive.values(), key=_order)
    ]


def _job() -> str:
    """Return the id of the connection: each has workers of its own."""
    import ray

    return ray.get_runtime_context().get_job_id()


def _address() -> str:
    """Return the address of the cluster that ``ray.init(address="auto")`` connects to."""
    address = os.environ.get("RAY_ADDRESS", "")
    if address == "local":  # this would start a cluster
        raise DeviceError(NO_CLUSTER)
    if address not in ("", "auto"):
        return address
    started = Path(os.environ.get("RAY_TMPDIR") or tempfile.gettempdir(), "ray", "ray_current_cluster")
    try:
        return started.read_text(encoding="utf-8").strip()
    except OSError:
        raise DeviceError(NO_CLUSTER) from None


def _check_answers(address: str) -> None:
    """Raise DeviceError if nothing listens at an address: ``ray.init`` would wait for it for a minute."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdecimal():
        raise DeviceError(
            f"RAY_ADDRESS cannot be '{address}': it takes the address of a cluster, such as 10.0.0.1:6379"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_TIMEOUT).close()
    except OSError as error:
        raise DeviceError(f"no Ray cluster answers at {address} ({error}): {NO_CLUSTER.partition(': ')[2]}") from error


def _bundles(name: str, nodes: dict[str, dict[str, Any]]) -> list[Placement]:
    import ray.util
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    try:
        group = ray.util.get_placement_group(name)
    except ValueError as error:
        raise DeviceError(f"{PLACEMENT_GROUP} names no placement group: {error}") from error
    node_of = ray.util.placement_group_table(group)["bundles_to_node_id"]
    return [
        Placement(
            f"{_job()} {group.id.hex()} {index}",
            nodes[node_of[index]]["NodeManagerAddress"] if node_of.get(index) in nodes else "",
            _cpus(bundle),
            PlacementGroupSchedulingStrategy(group, index),
        )
        for index, bundle in enumerate(group.bundle_specs)
    ]


def _order(node: dict[str, Any]) -> tuple[Any, ...]:
    """Return the sort key of a node: it is the same in each process that connects."""
    return (_HEAD not in node["Resources"], node["NodeManagerAddress"], node["NodeManagerPort"])


def _cpus(resources: dict[str, float]) -> int:
    return max(1, int(resources.get("CPU", 1)))
