"""Remote tensors: host memory that stands for device memory, new or a user's numpy array.

``context.create_tensor(Type.f32, [2, 3], {"vector_data": array})`` returns a tensor in the memory of a user's array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hetero import properties as props
from hetero.core.containers import ElementType
from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.plugin import Region, RemoteContext, RemoteMemory, RemoteTensor
from hetero.properties import Property, PropertyTable
from hetero.system.errors import TensorError


def _array(value: Any) -> np.ndarray:
    if not (isinstance(value, np.ndarray) and value.flags.c_contiguous and value.flags.writeable):
        raise ValueError
    return value


#: The array of a remote tensor, and its address.
VECTOR_DATA = Property("vector_data", _array, accepts="a contiguous numpy array that can be written")
VECTOR_DATA_PTR = "vector_data_ptr"


class VectorTensor(RemoteTensor):
    """A remote tensor of TEMPLATE. Other devices' remote tensors have their own classes and parameters."""

    @staticmethod
    def type_check(tensor: Tensor, type_info: Mapping[str, Any] | None = None) -> None:
        """Raise TensorError unless the tensor is one of TEMPLATE, also with the parameters in ``type_info``."""
        own = {props.device.full_name: ["TEMPLATE"], VECTOR_DATA: [], VECTOR_DATA_PTR: []}
        RemoteTensor.type_check(tensor, {**own, **(type_info or {})})

    def get_data(self, type: ElementType | None = None) -> np.ndarray:
        """Return the elements without a copy. Raises TensorError if ``type`` is given and not their type."""
        if type is not None and Type(type) is not self.element_type:
            raise TensorError(f"the elements of a remote tensor of {self.element_type} cannot be taken as {type}")
        return self.memory.array(self.region)


class TemplateContext(RemoteContext):
    tensor_class = VectorTensor

    def __init__(self, device_name: str, params: Mapping[str, Any]) -> None:
        super().__init__(device_name)
        PropertyTable([props.device.id], f"a context of {device_name}").set(params)

    def holds(self, tensor: Tensor) -> bool:
        """Return True for all tensors in host memory, as numpy computes there."""
        return not isinstance(tensor, RemoteTensor) or super().holds(tensor)

    def create_tensor(
        self, type: ElementType, shape: Sequence[int], properties: Mapping[str, Any] | None = None
    ) -> RemoteTensor:
        """Create a tensor, with ``vector_data`` in the memory of a user's array, which is kept alive."""
        array = (properties or {}).get(VECTOR_DATA)
        if isinstance(array, np.ndarray) and Type(array.dtype) is not Type(type):
            raise TensorError(f"a remote tensor of {type} cannot be in an array of {array.dtype}")
        return super().create_tensor(type, shape, properties)

    def create_memory(self, byte_size: int, properties: Mapping[str, Any]) -> VectorMemory:
        table = PropertyTable([VECTOR_DATA], f"a remote tensor of {self.get_device_name()}")
        table.set(properties)
        array = table.get(VECTOR_DATA)
        if array is None:
            return VectorMemory(self, np.zeros(byte_size, np.uint8), is_owned=True)
        return VectorMemory(self, array, is_owned=False)


class VectorMemory(RemoteMemory):
    """The memory of an array. It can grow only if it is owned by the plugin."""

    def __init__(self, context: TemplateContext, array: np.ndarray, is_owned: bool) -> None:
        super().__init__(context, array.nbytes)
        self._array, self._is_owned = array, is_owned

    def array(self, region: Region) -> np.ndarray:
        """Return a region without a copy."""
        return np.ndarray(region.shape, region.dtype, self._array.data, region.offset, region.strides)

    def read(self, region: Region, array: np.ndarray) -> None:
        np.copyto(array, self.array(region))

    def write(self, region: Region, array: np.ndarray) -> None:
        np.copyto(self.array(region), array)

    def resize(self, byte_size: int) -> None:
        if not self._is_owned:
            super().resize(byte_size)  # raises
        self._array = np.zeros(byte_size, np.uint8)
        self.byte_size = byte_size

    def get_properties(self) -> dict[str, Any]:
        return {
            props.device.full_name: self.context.get_device_name(),
            VECTOR_DATA: self._array,
            VECTOR_DATA_PTR: self._array.ctypes.data,
        }
