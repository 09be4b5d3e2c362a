"""Contents of the modules hetero.opset1 … hetero.opset17, made from the operation classes.

A module has the newest class of each operation as of its operation set, and a snake_case factory for each class, whose
parameters are the inputs and attributes of the class: ``opset8.softmax(data, axis=1)``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hetero.core.shape import PartialShapeLike
from hetero.core.tensor import Tensor
from hetero.core.type_conversion import converted
from hetero.core.types import Type
from hetero.graph import Constant, Op, Parameter, defined_operations

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
    """Return all operation classes of hetero's operation sets; those of other packages may have any names."""
    return (cls for cls in defined_operations() if cls.__module__.startswith(("hetero.ops.", "hetero.graph.")))


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
# The element types that OpenVINO's factories make of Python's types.
_PYTHON_TYPES: dict[Any, Type] = {float: Type.f32, int: Type.i32}
# Operations whose factory is the class, which has the methods that connect bodies.
_CLASS_FACTORIES = {"Assign", "If", "Loop", "TensorIterator"}


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
        if opset in older:
            factory = _factory(classes_in(older.start - 1)[name])
        else:
            factory = cls if name in _CLASS_FACTORIES else _factory(cls)
        members[name] = cls
        # Keeps the factories `parameter` and `constant` from above.
        members.setdefault(snake_case(name), factory)
        if name in _ALIASES:
            members[_ALIASES[name]] = factory
    return members


def _element_type(value: Any) -> Any:
    """Return the element type that float or int stands for in OpenVINO's factories, and any other value as it is."""
    return _PYTHON_TYPES.get(value, value) if isinstance(value, type) else value


def parameter(shape: PartialShapeLike, dtype: Any = np.float32, name: str | None = None) -> Parameter:
    """Create a Parameter with OpenVINO's argument order: the shape first; the type may be a numpy dtype."""
    return Parameter(_element_type(dtype), shape, name=name)


def constant(
    value: Any = None,
    dtype: Any = None,
    name: str | None = None,
    *,
    shared_memory: bool | None = None,
    tensor: Tensor | None = None,
) -> Constant:
    """Create a Constant from a copy of the value, or from the array itself if ``shared_memory`` is true.

    Numbers are converted to ``dtype``, an element type or a numpy dtype. ``constant(tensor, shared_memory)`` shares
    the memory of a Tensor by default.
    """
    value = value if tensor is None else tensor
    if isinstance(value, Tensor):
        if isinstance(dtype, bool):
            dtype, shared_memory = None, dtype
        shared_memory = shared_memory is not False
        value = value.array
    dtype = _element_type(dtype)
    if isinstance(dtype, Type) and dtype is not Type.string:
        array = np.asarray(value)
        same = array.dtype == dtype.to_dtype()
        return Constant(array if same and shared_memory else converted(array, dtype).copy(), name=name)
    if isinstance(dtype, Type):
        dtype = dtype.to_dtype()
    return Constant(np.asarray(value, dtype) if shared_memory else np.array(value, dtype), name=name)


def _factory(cls: type[Op]) -> Callable[..., Op]:
    # As in OpenVINO, the name may be given by position, after all other arguments.
    parameters = list(cls.signature().parameters.values())
    position = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
    parameters.insert(position, inspect.Parameter("name", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None))

    def create(*arguments: Any, name: str | None = None, **keywords: Any) -> Op:
        if len(arguments) == position + 1:
            *arguments, name = arguments  # type: ignore[assignment]  # a list serves as well
        keywords = {key: _element_type(value) for key, value in keywords.items()}
        return cls(*map(_element_type, arguments), name=name, **keywords)

    factory: Any = create
    factory.__name__ = factory.__qualname__ = snake_case(cls.type_info.name)
    factory.__doc__ = cls.__doc__
    factory.__signature__ = inspect.Signature(parameters)
    return factory
