"""OpenVINO's names of errors, like ``openvino.exceptions``."""

from hetero.errors import ArgumentTypeError as OVTypeError
from hetero.errors import GraphError as UserInputError
from hetero.errors import HeteroError as OVError

__all__ = ["OVError", "OVTypeError", "UserInputError"]
