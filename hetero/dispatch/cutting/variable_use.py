"""VariableUse: the steps of a plan that read or assign a variable of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hetero.dispatch.cutting.partition import DeviceSubgraph
from hetero.graph import Model, VariableInfo, walk_nested
from hetero.ops.control_flow.variables import AssignV3, VariableOp


@dataclass(frozen=True)
class VariableUse:
    """The indices of the steps that read a variable, and of those that may assign it: the last one that does counts.

    Both are empty if all devices left out the branch that has the variable.
    """

    info: VariableInfo
    readers: tuple[int, ...] = ()
    setters: tuple[int, ...] = ()

    @property
    def steps(self) -> set[int]:
        return {*self.readers, *self.setters}


def find_variable_uses(
    infos: Sequence[VariableInfo], model: Model, subgraphs: Sequence[DeviceSubgraph]
) -> list[VariableUse]:
    """Return the use of each variable of a partitioned model. An Assign takes effect after those in bodies."""
    step_of = {node: index for index, subgraph in enumerate(subgraphs) for node in subgraph.nodes}
    readers: dict[str, set[int]] = {info.variable_id: set() for info in infos}
    setters: dict[str, dict[int, bool]] = {info.variable_id: {} for info in infos}  # and whether it is in a body
    for node in model.get_ordered_ops() if infos else ():
        for inner in walk_nested([node]):
            if isinstance(inner, AssignV3):
                found = setters[inner.variable_id]
                found[step_of[node]] = found.pop(step_of[node], True) and inner is not node
            elif isinstance(inner, VariableOp):
                readers[inner.variable_id].add(step_of[node])
    uses = []
    for info in infos:
        found = setters[info.variable_id]
        always = [step for step, is_in_body in found.items() if not is_in_body]
        uses.append(VariableUse(info, tuple(sorted(readers[info.variable_id])), tuple(always[-1:] or found)))
    return uses
