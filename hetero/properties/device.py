"""Properties that select and describe a device, like ``openvino.properties.device``."""

from enum import StrEnum

from hetero.properties.property import Mutability, Property, PropertyEnum
from hetero.properties.values import by_device, mapping, member_of, names


class Type(PropertyEnum):
    """Kind of a device's memory. INTEGRATED: the host's memory. DISCRETE: memory of its own."""

    INTEGRATED = "integrated", 0
    DISCRETE = "discrete", 1


class Capability(StrEnum):
    """Capabilities of a device: element types that it computes with, and whether it can export models."""

    FP32 = "FP32"
    BF16 = "BF16"
    FP16 = "FP16"
    INT8 = "INT8"
    INT16 = "INT16"
    BIN = "BIN"
    WINOGRAD = "WINOGRAD"
    EXPORT_IMPORT = "EXPORT_IMPORT"


full_name = Property("FULL_DEVICE_NAME", str, "", Mutability.RO)
architecture = Property("DEVICE_ARCHITECTURE", str, "", Mutability.RO)
type = Property("DEVICE_TYPE", member_of(Type), Type.INTEGRATED, Mutability.RO)
capabilities = Property("OPTIMIZATION_CAPABILITIES", names, (), Mutability.RO)
# Further facts about the device for `hetero devices`: description by name.
details = Property("DEVICE_DETAILS", mapping, {}, Mutability.RO)
# Read-only descriptions for devices that know them.
gops = Property("DEVICE_GOPS", mapping, {}, Mutability.RO)
luid = Property("DEVICE_LUID", str, "", Mutability.RO)
pci_info = Property("DEVICE_PCI_INFO", str, "", Mutability.RO)
thermal = Property("DEVICE_THERMAL", str, "", Mutability.RO)
uuid = Property("DEVICE_UUID", str, "", Mutability.RO)
id = Property("DEVICE_ID", str, "")
priorities = Property("MULTI_DEVICE_PRIORITIES", names, ())
properties = Property("DEVICE_PROPERTIES", by_device, {})
