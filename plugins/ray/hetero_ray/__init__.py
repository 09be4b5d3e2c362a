"""Devices RAY.0, RAY.1, …: the nodes of a Ray cluster, each of which runs subgraphs on a device of its own.

1. ``plugin.py``: the Plugin with its properties, and queries and compilations, which the nodes do.
2. ``cluster.py``: the connection to the cluster, and its nodes.
3. ``device.py``: a node as a device, with its worker and the properties of its own devices.
4. ``worker.py``: the actor that runs on a node. It keeps compiled models and infer requests.
5. ``worker_client.py``: calls of a worker; its errors become DeviceErrors here.
6. ``sendable.py``, ``shipping.py``: a model as it is sent to a worker. Weights are put into Ray's object store once.
7. ``compiled_model.py``, ``infer_request.py``, ``variable_state.py``, ``runtime_model.py``: the other roles, each a
   proxy of the worker's.
8. ``remote.py``: tensors in Ray's object store, which go from node to node directly.
"""

from __future__ import annotations

from hetero.plugin import Plugin, Registry, hookimpl


@hookimpl
def hetero_register_devices(registry: Registry) -> None:
    registry.register_device("RAY", _make_plugin, compiles_fast=False)


def _make_plugin() -> Plugin:
    from hetero_ray.cluster import connect, placements

    # Without a cluster this raises before ray is imported, which takes half a second.
    connect()
    from hetero_ray.plugin import RayPlugin

    return RayPlugin(placements())
