"""A package that exists because OpenVINO has ``openvino.op``: its names of operations."""

from hetero.graph import Constant, Parameter, Result
from hetero.op import util
from hetero.ops import Assign as assign
from hetero.ops import If as if_op
from hetero.ops import Loop as loop
from hetero.ops import ReadValue as read_value
from hetero.ops import TensorIterator as tensor_iterator

__all__ = ["Constant", "Parameter", "Result", "assign", "if_op", "loop", "read_value", "tensor_iterator", "util"]
