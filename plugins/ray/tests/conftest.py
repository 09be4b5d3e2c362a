"""A Ray cluster of two nodes on this machine, for the tests of one file."""

import shutil
import tempfile

import pytest


@pytest.fixture(scope="module")
def cluster():
    """The cluster. Its nodes run subgraphs on TEMPLATE. Tests of other files do not see it."""
    import ray
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        folder = tempfile.mkdtemp(prefix="ray", dir="/tmp")  # paths of sockets must be short
        patch.setenv("RAY_TMPDIR", folder)
        patch.setenv("HETERO_RAY_DEVICE", "TEMPLATE")
        # Not the default, which leaves more memory free.
        node = {"num_cpus": 1, "object_store_memory": 200 << 20}
        cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
        try:
            cluster.add_node(**node)
            patch.setenv("RAY_ADDRESS", cluster.address)
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def new_node(cluster):
    """A function that adds a node to the cluster, for one test."""
    added = []

    def add(**options):
        added.append(cluster.add_node(num_cpus=1, object_store_memory=100 << 20, **options))
        return added[-1]

    yield add
    for node in added:
        if node in cluster.list_all_nodes():
            cluster.remove_node(node)


@pytest.fixture
def core(cluster):
    from hetero import Core

    return Core()
