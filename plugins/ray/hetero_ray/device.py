"""RayDevice: a node of the cluster, with its worker and the properties of the node's own devices."""

from __future__ import annotations

import os
from typing import Any

from hetero import properties as props
from hetero.plugin import Device, full_name
from hetero.properties import Property, PropertyTable
from hetero.properties.table import supported_properties
from hetero.system.errors import DeviceError, PropertyError
from hetero_ray.cluster import Placement
from hetero_ray.worker import KIND, Description
from hetero_ray.worker_client import WorkerClient, worker_of

# The device of the node that runs the subgraphs. By default the one in the environment variable HETERO_RAY_DEVICE, else
# the first one that the node has.
ray_device = Property("RAY_DEVICE", str, "", accepts="a device of the node, such as TEMPLATE or HETERO:GPU,TEMPLATE")
# Milliseconds that an inference may take; 0 for no limit.
ray_timeout = Property("RAY_TIMEOUT", props.count, 0)
#: Properties that are those of this device, not of the node's.
OWN_PROPERTIES = (props.available_devices, props.device.full_name, props.device.id, ray_device, ray_timeout)


class RayDevice(Device):
    """A node. Its worker is started when it is first needed, and again if it was lost."""

    def __init__(self, number: int, placement: Placement) -> None:
        super().__init__(str(number))
        self.name = full_name(KIND, self.id)
        self.placement = placement

    @property
    def client(self) -> WorkerClient:
        """The worker of the node. Raises DeviceError if it cannot be started."""
        return worker_of(self.name, self.placement)

    def description(self, name: str) -> Description:
        """Return a device of the node by name; "" for the default. Raises PropertyError for a name that has none."""
        try:
            return self.client.description(name or os.environ.get("HETERO_RAY_DEVICE", ""))
        except DeviceError as error:
            if not name:
                raise
            raise PropertyError(f"property {ray_device} of {self.name} cannot be '{name}': {error}") from error

    def properties_of(self, name: str) -> list[Property]:
        """Return the properties of a device of the node, and this device's own."""
        description = self.description(name)
        own = {str(key) for key in (*OWN_PROPERTIES, supported_properties)}
        of_node = {str(entry): entry for entry in description.properties}
        what = of_node[props.device.full_name].default if props.device.full_name in of_node else description.name
        titled = props.device.full_name.with_default(f"{what} on Ray node {self.placement.address}")
        chosen = ray_device.with_default(description.name)
        return [*OWN_PROPERTIES, titled, chosen, *(entry for key, entry in of_node.items() if key not in own)]

    def properties(self) -> dict[str, Any]:
        return {}  # they are the defaults of properties_of


def node_options(device: RayDevice, table: PropertyTable) -> tuple[str, dict[str, Any]]:
    """Return the name of the node's device, and the options for it: those of the user, without OWN_PROPERTIES."""
    name = device.description(table.value_of(ray_device)).name
    return name, {key: value for key, value in table.explicit().items() if key not in OWN_PROPERTIES}
