"""The graph: Model, Node, its Inputs and Outputs, and the base class of operations."""

from hetero.graph import execution
from hetero.graph.attributes import Attribute, AttributeVisitor, accepts, choice, floats, integers, texts
from hetero.graph.documentation import class_file, describe_failure, method_location
from hetero.graph.execution import ExecutionNode, is_execution_step
from hetero.graph.layouts import get_batch, get_layout, set_batch, set_layout
from hetero.graph.model import Model
from hetero.graph.node import DiscreteTypeInfo, Node, as_output
from hetero.graph.operation import Op, defined_operations
from hetero.graph.order import topological_order, walk_nested
from hetero.graph.port import ConstOutput, Input, Output, find_port, port_name
from hetero.graph.rt_info import AFFINITY, copy_rt_info
from hetero.graph.terminals import Constant, Parameter, Result, constant_array, is_constant, is_terminal
from hetero.graph.unique_names import UniqueNames
from hetero.graph.variable import Variable, VariableInfo

__all__ = [
    "AFFINITY", "Attribute", "AttributeVisitor", "ConstOutput", "Constant", "DiscreteTypeInfo", "ExecutionNode",
    "Input", "Model", "Node", "Op", "Output", "Parameter", "Result", "UniqueNames", "Variable", "VariableInfo",
    "accepts", "as_output", "choice", "class_file", "constant_array", "copy_rt_info", "defined_operations",
    "describe_failure", "execution", "find_port", "floats", "get_batch", "get_layout", "integers", "is_constant",
    "is_execution_step", "is_terminal", "method_location", "port_name", "set_batch", "set_layout", "texts",
    "topological_order", "walk_nested",
]  # fmt: skip
