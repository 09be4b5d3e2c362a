"""A module that exists because OpenVINO has ``openvino.helpers``. Its functions are in hetero.core."""

from hetero.core.packing import pack_data, unpack_data

__all__ = ["pack_data", "unpack_data"]
