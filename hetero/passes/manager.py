"""PassManager: runs a list of passes, each of which can be disabled by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hetero.graph import Model
from hetero.system.errors import PropertyError
from hetero.system.messages import get_logger
from hetero.system.tracing import span

#: Changes a model in place, and returns whether it changed anything.
Pass = Callable[[Model], bool]

_log = get_logger("hetero")


def changes_numerics(one: Pass) -> Pass:
    """Mark a pass after which results may differ by rounding from those of the model's own operations."""
    one.changes_numerics = True  # type: ignore[attr-defined]  # a mark on a function
    return one


def may_change_numerics(one: Pass) -> bool:
    """Return whether a pass is marked by ``changes_numerics``."""
    return getattr(one, "changes_numerics", False)


class PassManager:
    """Passes that run in order, named like their functions: ``PassManager([fold_constants, fuse_gelu])``.

    Raises PropertyError if ``disabled`` has a name that no pass has.
    """

    def __init__(self, passes: Iterable[Pass], disabled: Iterable[str] = ()) -> None:
        by_name = {one.__name__: one for one in passes}
        disabled = set(disabled)
        unknown = disabled - by_name.keys()
        if unknown:
            raise PropertyError(f"there is no pass {', '.join(sorted(unknown))}: there are {', '.join(by_name)}")
        self._passes = {name: one for name, one in by_name.items() if name not in disabled}

    @property
    def names(self) -> list[str]:
        """The names of the passes that run, in order."""
        return list(self._passes)

    def run(self, model: Model) -> list[str]:
        """Run the passes on a model and the bodies in it, and return the names of those that changed anything."""
        changed: dict[str, None] = {}
        waiting = [model]
        while waiting:
            one_model = waiting.pop()
            for name, one in self._passes.items():
                with span(name, one_model.friendly_name):
                    if one(one_model):
                        changed[name] = None
            waiting += [body for node in one_model.get_ordered_ops() for body in node.bodies if body]
        _log.debug("model '%s' was changed by %s", model.friendly_name, ", ".join(changed) or "no pass")
        return list(changed)
