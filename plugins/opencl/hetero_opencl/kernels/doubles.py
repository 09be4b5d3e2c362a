"""Operations that compute in f64 although none of their values has this type."""

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node
from hetero_opencl.kernels.elementwise.expressions import is_real_function


def needs_doubles(node: Node) -> bool:
    """Return whether a node without f64 values needs a device with f64, because f32 would give other integers."""
    if isinstance(node, ops.MelWeightMatrix):  # edges are rounded to bins
        return True
    if isinstance(node, ops.ReduceL2):
        return node.get_input_element_type(0) in (Type.i64, Type.u64)
    return is_real_function(node) and node.get_input_element_type(0) in (Type.i32, Type.u32, Type.i64, Type.u64)
