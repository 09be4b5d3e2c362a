"""What the modules hetero.opset1 … hetero.opset16 hold, made from the operation classes.

Of each operation set the classes that were newest in it, and a snake_case factory for each whose parameters are the
class's inputs and attributes: ``opset8.softmax(data, axis=1)``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hetero.graph import Constant, Op, Parameter, defined_operations
from hetero.shape import PartialShapeLike
from hetero.types import Type

OPSETS = range(1, 17)


def operation_classes() -> Iterator[type[Op]]:
    """All classes of the operation sets."""
    return (cls for cls in _all_classes() if cls.type_info.version_id.startswith("opset"))


def extension_classes() -> dict[str, type[Op]]:
    """hetero's operations beyond the operation sets, by their names: the classes that are no bases of its others."""
    classes = [cls for cls in _all_classes() if cls.type_info.version_id == "extension"]
    bases = {base for cls in _all_classes() for base in cls.__mro__[1:]}
    return {cls.type_info.name: cls for cls in classes if cls not in bases}


def _all_classes() -> Iterator[type[Op]]:
    """All classes of hetero: those of others may have any names."""
    return (cls for cls in defined_operations() if cls.__module__.startswith("hetero."))


def opset_of(cls: type[Op]) -> int:
    """The number of the operation set that a class came with."""
    return int(cls.type_info.version_id.removeprefix("opset"))


def classes_in(opset: int) -> dict[str, type[Op]]:
    """The newest class of each operation in an operation set, by the operation's name."""
    found: dict[str, type[Op]] = {}
    for cls in sorted(operation_classes(), key=opset_of):
        if opset_of(cls) <= opset:
            found[cls.type_info.name] = cls
    return dict(sorted(found.items()))


# Names that OpenVINO's factories write as one word.
_ONE_WORD = {"Col2Im", "HSigmoid", "HSwish", "MatMul", "PRelu", "SoftPlus", "SoftSign", "TopK"}

# Names that are not made of the operation's in any regular way; "if" is a word of Python's.
_OTHERWISE = {
    "ExperimentalDetectronTopKROIs": "experimental_detectron_topk_rois",
    "I420toBGR": "i420_to_bgr",
    "I420toRGB": "i420_to_rgb",
    "NV12toBGR": "nv12_to_bgr",
    "NV12toRGB": "nv12_to_rgb",
    "If": "if_op",
    "IsNaN": "is_nan",
}
# Opsets whose factory makes the version before theirs, as OpenVINO's does.
_FACTORIES_BEHIND = {"Interpolate": range(4, 10), "Range": range(4, 12)}
# Second names of factories.
_ALIASES = {"Abs": "absolute", "Ceiling": "ceil", "CumSum": "cumsum"}


def snake_case(name: str) -> str:
    """``ReduceMean`` as ``reduce_mean``, ``LSTMCell`` as ``lstm_cell``, ``MatMul`` as ``matmul``."""
    if name in _ONE_WORD:
        return name.lower()
    if name in _OTHERWISE:
        return _OTHERWISE[name]
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def members_of(opset: int) -> dict[str, Any]:
    """The classes and the factories of an operation set, by their names."""
    members: dict[str, Any] = {"parameter": parameter, "constant": constant}
    for name, cls in classes_in(opset).items():
        behind = _FACTORIES_BEHIND.get(name, ())
        factory = _factory(classes_in(behind[0] - 1)[name] if opset in behind else cls)
        members[name] = cls
        # Parameters and Constants have factories of their own.
        members.setdefault(snake_case(name), factory)
        if name in _ALIASES:
            members[_ALIASES[name]] = factory
    return members


def parameter(shape: PartialShapeLike, dtype: Any = np.float32, name: str | None = None) -> Parameter:
    """An input of a model, as OpenVINO's factory makes it: the shape comes first, the type may be numpy's."""
    return Parameter(dtype, shape, name=name)


def constant(value: Any, dtype: Any = None, shared_memory: bool = False, name: str | None = None) -> Constant:
    """A Constant of a copy of the value, or with ``shared_memory`` of the array itself."""
    if isinstance(dtype, Type):
        dtype = dtype.to_dtype()
    return Constant(np.asarray(value, dtype) if shared_memory else np.array(value, dtype), name=name)


def _factory(cls: type[Op]) -> Callable[..., Op]:
    def factory(*arguments, name=None, **keywords):
        return cls(*arguments, name=name, **keywords)

    factory.__name__ = factory.__qualname__ = snake_case(cls.type_info.name)
    factory.__doc__ = cls.__doc__
    factory.__signature__ = cls.signature()
    return factory
