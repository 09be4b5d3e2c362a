"""The table of operations that every device is tested with, each with a numpy formula."""

from hetero.conformance.operations.case import FLOATS, INTEGERS, OperationCase
from hetero.conformance.operations.elementwise import ELEMENTWISE
from hetero.conformance.operations.layers import LAYERS
from hetero.conformance.operations.movement import MOVEMENT
from hetero.conformance.operations.reduction import REDUCTIONS
from hetero.conformance.operations.weights import WEIGHTS

__all__ = ["FLOATS", "INTEGERS", "OPERATIONS", "OperationCase"]

OPERATIONS = (
    *ELEMENTWISE,
    *REDUCTIONS,
    *MOVEMENT,
    *LAYERS,
    *WEIGHTS,
)
