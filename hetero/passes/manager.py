"""PassManager: runs a list of passes, each of which can be disabled by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from hetero.graph import Model
from hetero.system.errors import PropertyError
from hetero.system.messages import get_logger
from hetero.system.tracing import span

#: Changes a model in place, and returns whether it changed anything.
Pass = Callable[[Model], bool]
Function = TypeVar("Function", bound=Callable[..., object])

_log = get_logger("hetero")


def changes_numerics(transformation: Pass) -> Pass:
    """Mark a pass after which results may differ by rounding from those of the model's own operations."""
    transformation.changes_numerics = True  # type: ignore[attr-defined]  # a mark on a function
    return transformation


def may_change_numerics(transformation: Pass) -> bool:
    """Return whether a pass is marked by ``changes_numerics``."""
    return getattr(transformation, "changes_numerics", False)


def keeps_values(transformation: Function) -> Function:
    """Mark a pass, or a method ``transform_model``, that keeps values, so that parts are cut out of what it returns.

    Each output that is in the model afterwards has the contents that it had before, and what ``Output.replace`` or
    ``Output.hand_over`` puts in the place of an output has that output's contents, up to rounding. A pass that changes
    what an operation has in place, as by scaled weights, does not keep values.
    """
    transformation.keeps_values = True  # type: ignore[attr-defined]  # a mark on a function
    return transformation


def does_keep_values(transformation: Callable[..., object]) -> bool:
    """Return whether a pass is marked by ``keeps_values``."""
    return getattr(transformation, "keeps_values", False)


class PassManager:
    """Passes that run in order, named like their functions: ``PassManager([fold_constants, fuse_gelu])``.

    Raises PropertyError if ``disabled`` has a name that no pass has.
    """

    def __init__(self, passes: Iterable[Pass], disabled: Iterable[str] = ()) -> None:
        by_name = {transformation.__name__: transformation for transformation in passes}
        disabled = set(disabled)
        unknown = disabled - by_name.keys()
        if unknown:
            raise PropertyError(f"there is no pass {', '.join(sorted(unknown))}: there are {', '.join(by_name)}")
        self._passes = {name: by_name[name] for name in by_name if name not in disabled}

    @property
    def names(self) -> list[str]:
        """The names of the passes that run, in order."""
        return list(self._passes)

    def run(self, model: Model) -> list[str]:
        """Run the passes on a model and the bodies in it, and return the names of those that changed anything."""
        changed: dict[str, None] = {}
        waiting = [model]
        while waiting:
            current = waiting.pop()
            for name, transformation in self._passes.items():
                with span(name, current.friendly_name):
                    if transformation(current):
                        changed[name] = None
                        model.keeps_values &= does_keep_values(transformation)
            waiting += [body for node in current.get_ordered_ops() for body in node.bodies if body]
        _log.debug("model '%s' was changed by %s", model.friendly_name, ", ".join(changed) or "no pass")
        return list(changed)
