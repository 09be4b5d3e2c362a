"""Layer normalization, which exporters write out, as MVN; the scale and shift after it stay as they are."""

from __future__ import annotations

from hetero import ops
from hetero.graph import Model
from hetero.passes.manager import changes_numerics
from hetero.passes.pattern import AnyConstant, Anything, Either, Number, Operation, find, replace, single_number

_X, _AXES, _EPSILON = Anything("x"), AnyConstant("axes"), AnyConstant("epsilon")
_CENTRED = Operation(ops.Subtract, _X, Operation(ops.ReduceMean, _X, _AXES, keep_dims=True), name="centred")
_SQUARED = Either(
    Operation(ops.Power, _CENTRED, Number(2)),
    Operation(ops.Multiply, _CENTRED, _CENTRED),
    Operation(ops.SquaredDifference, _X, Operation(ops.ReduceMean, _X, _AXES, keep_dims=True)),
)
_VARIANCE = Operation(ops.Add, Operation(ops.ReduceMean, _SQUARED, _AXES, keep_dims=True), _EPSILON)
_DEVIATION = Either(Operation(ops.Sqrt, _VARIANCE), Operation(ops.Power, _VARIANCE, Number(0.5)))
_INVERSE = Either(Operation(ops.Power, _VARIANCE, Number(-0.5)), Operation(ops.Divide, Number(1), _DEVIATION))
# (x - mean) / √(variance + ε), of Ba, Kiros & Hinton, "Layer Normalization", 2016
_NORMALIZED = Either(
    Operation(ops.Divide, _CENTRED, _DEVIATION),
    Operation(ops.Multiply, _CENTRED, _INVERSE),
)


@changes_numerics
def fuse_layer_norm(model: Model) -> bool:
    """Put MVN in the place of the operations that subtract the mean and divide by the standard deviation.

    Requires: constants are folded. Ensures: none of the written-out forms is left whose parts nobody else reads.
    """
    changed = False
    for node in model.get_ordered_ops():
        if not isinstance(node, (ops.Divide, ops.Multiply)):
            continue
        match = find(_NORMALIZED, node)
        epsilon = single_number(match["epsilon"]) if match else None
        if match and epsilon is not None:
            replace(match, ops.MVN(match["x"], match["axes"], True, epsilon, "inside_sqrt"))
            changed = True
    return changed
