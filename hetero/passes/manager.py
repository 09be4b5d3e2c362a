"""PassManager: a list of passes, each of which may be left out by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hetero.errors import PropertyError
from hetero.graph import Model
from hetero.messages import get_logger
from hetero.tracing import span

Pass = Callable[[Model], bool]

_log = get_logger("hetero")


def changes_numerics(one: Pass) -> Pass:
    """Mark a pass after which results may be rounded otherwise than the model's own operations round them."""
    one.changes_numerics = True  # type: ignore[attr-defined]
    return one


def changes_rounding(one: Pass) -> bool:
    """Whether a pass is marked so."""
    return getattr(one, "changes_numerics", False)


class PassManager:
    """Passes that run in order, under the names of their functions: ``PassManager([fold_constants, fuse_gelu])``.

    Raises PropertyError where ``disabled`` names none of them.
    """

    def __init__(self, passes: Iterable[Pass], disabled: Iterable[str] = ()) -> None:
        by_name = {one.__name__: one for one in passes}
        unknown = set(disabled) - by_name.keys()
        if unknown:
            raise PropertyError(f"there is no pass {', '.join(sorted(unknown))}: there are {', '.join(by_name)}")
        self._passes = {name: one for name, one in by_name.items() if name not in set(disabled)}

    @property
    def names(self) -> list[str]:
        """The names of the passes that run, in order."""
        return list(self._passes)

    def run(self, model: Model) -> list[str]:
        """Change the model, and the bodies in it; the names of the passes that had something to change."""
        changed: dict[str, None] = {}
        waiting = [model]
        while waiting:
            one_model = waiting.pop()
            changed |= dict.fromkeys(name for name, one in self._passes.items() if _run(one, one_model))
            waiting += [body for node in one_model.get_ordered_ops() for body in node.bodies if body]
        _log.debug("model '%s' was changed by %s", model.friendly_name, ", ".join(changed) or "no pass")
        return list(changed)


def _run(one: Pass, model: Model) -> bool:
    with span(one.__name__, model.friendly_name):
        return one(model)
