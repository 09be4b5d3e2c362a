"""Contents of the modules hetero.opset1 … hetero.opset17, made from the operation classes.

A module has the newest class of each operation as of its operation set, and a snake_case factory for each class, whose
parameters are the inputs and attributes of the class: ``opset8.softmax(data, axis=1)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hetero.graph import Constant, Op, Parameter, defined_operations
from hetero.shape import PartialShapeLike
from hetero.tensor import Tensor
from hetero.type_conversion import converted
from hetero.types import Type

OPSETS = range(1, 18)


def operation_classes() -> Iterator[type[Op]]:
    """Return all classes of the operation sets."""
    return (cls for cls in _all_classes() if cls.type_info.version_id.startswith("opset"))


def extension_classes() -> dict[str, type[Op]]:
    """Return hetero's operations beyond the operation sets by name, without classes that are bases of others."""
    classes = [cls for cls in _all_classes() if cls.type_info.version_id == "extension"]
    bases = {base for cls in _all_classes() for base in cls.__mro__[1:]}
    return {cls.type_info.name: cls for cls in classes if cls not in bases}


def _all_classes() -> Iterator[type[Op]]:
    """Return all operation classes of hetero; those of other packages may have any names."""
    return (cls for cls in defined_operations() if cls.__module__.startswith("hetero."))


def opset_of(cls: type[Op]) -> int:
    """Return the number of the operation set that introduced a class."""
    return int(cls.type_info.version_id.removeprefix("opset"))


def classes_in(opset: int) -> dict[str, type[Op]]:
    """Return the newest class of each operation as of an operation set, by the operation's name."""
    newest: dict[str, type[Op]] = {}
    for cls in sorted(operation_classes(), key=opset_of):
        if opset_of(cls) <= opset:
            newest[cls.type_info.name] = cls
    return dict(sorted(newest.items()))


# Operations whose factories OpenVINO writes as one word.
_ONE_WORD = {"Col2Im", "ErfInv", "HSigmoid", "HSwish", "MatMul", "PRelu", "SoftPlus", "SoftSign", "TopK"}

# Factory names that do not follow from the operation's name by a rule; "if" is a Python keyword.
_IRREGULAR = {
    "ExperimentalDetectronTopKROIs": "experimental_detectron_topk_rois",
    "GroupedMatMul": "grouped_matmul",
    "I420toBGR": "i420_to_bgr",
    "I420toRGB": "i420_to_rgb",
    "NV12toBGR": "nv12_to_bgr",
    "NV12toRGB": "nv12_to_rgb",
    "If": "if_op",
    "IsNaN": "is_nan",
}
# Operation sets whose factory makes the previous version of the operation, as in OpenVINO.
_OLDER_FACTORIES = {"Interpolate": range(4, 10), "Range": range(4, 12)}
# Additional names of factories.
_ALIASES = {"Abs": "absolute", "Ceiling": "ceil", "CumSum": "cumsum"}


def snake_case(name: str) -> str:
    """Return the factory name: ``reduce_mean`` for ``ReduceMean``, ``lstm_cell`` for ``LSTMCell``, ``matmul``."""
    if name in _ONE_WORD:
        return name.lower()
    if name in _IRREGULAR:
        return _IRREGULAR[name]
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def members_of(opset: int) -> dict[str, Any]:
    """Return the classes and the factories of an operation set by name."""
    members: dict[str, Any] = {"parameter": parameter, "constant": constant}
    for name, cls in classes_in(opset).items():
        older = _OLDER_FACTORIES.get(name, range(0))
        factory = _factory(classes_in(older.start - 1)[name] if opset in older else cls)
        members[name] = cls
        # Keeps the factories `parameter` and `constant` from above.
        members.setdefault(snake_case(name), factory)
        if name in _ALIASES:
            members[_ALIASES[name]] = factory
    return members


def parameter(shape: PartialShapeLike, dtype: Any = np.float32, name: str | None = None) -> Parameter:
    """Create a Parameter with OpenVINO's argument order: the shape first; the type may be a numpy dtype."""
    return Parameter(dtype, shape, name=name)


def constant(value: Any, dtype: Any = None, shared_memory: bool = False, name: str | None = None) -> Constant:
    """Create a Constant from a copy of the value, or from the array itself if ``shared_memory`` is true.

    Numbers are converted to ``dtype``, an element type or a numpy dtype.
    """
    if isinstance(value, Tensor):
        value = value.data
    if isinstance(dtype, Type) and dtype is not Type.string:
        array = np.asarray(value)
        same = array.dtype == dtype.to_dtype()
        return Constant(array if same and shared_memory else converted(array, dtype).copy(), name=name)
    if isinstance(dtype, Type):
        dtype = dtype.to_dtype()
    return Constant(np.asarray(value, dtype) if shared_memory else np.array(value, dtype), name=name)


def _factory(cls: type[Op]) -> Callable[..., Op]:
    # As in OpenVINO, the name may be given by position, after all other arguments.
    positions = [p for p in cls.signature().parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]

    def create(*arguments: Any, name: str | None = None, **keywords: Any) -> Op:
        if len(arguments) == len(positions) + 1:
            *arguments, name = arguments  # type: ignore[assignment]  # a list serves as well
        return cls(*arguments, name=name, **keywords)

    factory: Any = create
    factory.__name__ = factory.__qualname__ = snake_case(cls.type_info.name)
    factory.__doc__ = cls.__doc__
    factory.__signature__ = cls.signature()
    return factory
