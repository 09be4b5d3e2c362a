"""Registry of the translators of PyTorch operators."""

from collections.abc import Callable

from hetero.core.types import Type
from hetero.frontend.translation.operator_table import OperatorTable, Row
from hetero.frontend.translation.translators import Translator

translators = OperatorTable()
# Decorator that registers a translator for operators by name, ``aten::add``, or for one overload: ``aten::add.Scalar``.
translator, rows = translators.register, translators.register_rows


def promoted(row: Row) -> Translator:
    """Return the translator of a row whose inputs are converted to the element type of the first output."""
    return lambda node: row.make(node, node.operands(*row.inputs))


def with_integers(row: Row) -> Translator:
    """Return the translator of a row whose inputs after the first are integers, some perhaps computed at run time."""
    first, *others = row.inputs
    return lambda node: row.make(node, [node.get_input(first), *(node.integers(name) for name in others)])


def converted_to(element_type: Type) -> Callable[[Row], Translator]:
    """Return the convention of rows whose inputs, by default all, are converted to an element type."""
    return lambda row: (
        lambda node: row.make(node, [node.converted(name, element_type) for name in row.inputs or node.arguments])
    )


# Operators that torch has by two names.
_ALIASES = {
    "__and__": "bitwise_and", "__lshift__": "bitwise_left_shift", "__or__": "bitwise_or",
    "__rshift__": "bitwise_right_shift", "__xor__": "bitwise_xor",
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "clip": "clamp", "divide": "div", "fix": "trunc", "ger": "outer",
    "greater": "gt", "greater_equal": "ge", "inverse": "linalg_inv", "less": "lt", "less_equal": "le",
    "linalg_matmul": "matmul", "multiply": "mul", "negative": "neg", "not_equal": "ne", "row_stack": "vstack",
    "special_erf": "erf", "special_erfc": "erfc", "special_exp2": "exp2", "special_expit": "sigmoid",
    "special_expm1": "expm1", "special_log1p": "log1p", "special_log_softmax": "log_softmax", "special_logit": "logit",
    "special_logsumexp": "logsumexp", "special_round": "round", "special_sinc": "sinc", "special_softmax": "softmax",
    "special_xlogy": "xlogy", "subtract": "sub",
}  # fmt: skip


def canonical_name(op_type: str) -> str:
    """Return the name by which an operator is registered."""
    return f"aten::{_ALIASES[op_type[6:]]}" if op_type.startswith("aten::") and op_type[6:] in _ALIASES else op_type


def find_translator(op_type: str, overload: str) -> Translator | None:
    """Return the translator of an overload, or of all overloads of an operator; None if there is none."""
    from hetero.frontend.pytorch import translators as registered  # noqa: F401 (fills the registry)

    name = canonical_name(op_type)
    return translators.find(f"{name}.{overload}") or translators.find(name)
