"""A module that exists because OpenVINO has ``openvino.exceptions``: its names of hetero's errors."""

from hetero.system.errors import ArgumentTypeError as OVTypeError
from hetero.system.errors import GraphError as UserInputError
from hetero.system.errors import HeteroError as OVError

__all__ = ["OVError", "OVTypeError", "UserInputError"]
