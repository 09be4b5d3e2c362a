"""Conditions in ProgramDesc: pairs of ``conditional_block`` and the ``select_input`` after them become one ``if``."""

from __future__ import annotations

from hetero.frontend.paddle.decoded import PaddleBlock, PaddleNode


def join_branches(operators: list[PaddleNode]) -> list[PaddleNode]:
    """Return operators with an ``if`` in the place of each ``conditional_block``.

    A program computes each branch in a block under its own condition, then takes one of the two results with
    ``select_input``. A block without a partner becomes an ``if`` that keeps the values of variables otherwise.
    """
    blocks = _ConditionalBlocks(operators)
    joined: list[PaddleNode] = []
    for operator in operators:
        if operator.op_type == "select_input" and (pair := blocks.pair(operator)):
            blocks.add_result(pair, operator)
        joined.append(operator)
    return [node for operator in joined for node in blocks.replacement(operator)]


class _ConditionalBlocks:
    """The conditional blocks among operators, by the variables that they set.

    An ``if`` takes the place of the later block of a pair: its condition, and all that the blocks read, are computed.
    """

    def __init__(self, operators: list[PaddleNode]) -> None:
        self._place = {id(operator): at for at, operator in enumerate(operators)}
        self._by_output: dict[str, PaddleNode] = {}
        self._ifs: dict[int, PaddleNode | None] = {}
        self._joined: set[int] = set()
        for operator in operators:
            if operator.op_type == "conditional_block":
                self._by_output.update(dict.fromkeys(operator.output_keys(), operator))

    def pair(self, select: PaddleNode) -> tuple[PaddleNode, PaddleNode] | None:
        """Return the blocks that compute the result for true and the one for false, or None."""
        names = select.inputs.get("X", [])
        blocks = [self._by_output.get(name) for name in names]
        if len(blocks) != 2 or blocks[0] is None or blocks[1] is None or blocks[0] is blocks[1]:
            return None
        return blocks[1], blocks[0]

    def add_result(self, pair: tuple[PaddleNode, PaddleNode], select: PaddleNode) -> None:
        """Make the result of a ``select_input`` one of the ``if`` of two blocks."""
        then, other = pair
        late, early = (then, other) if self._place[id(then)] > self._place[id(other)] else (other, then)
        if id(late) not in self._ifs:
            self._ifs[id(late)], self._ifs[id(early)] = _new_if(then, [then.bodies[0], other.bodies[0]]), None
        operator = self._ifs[id(late)]
        if operator is None:
            return
        for branch, name in zip(operator.bodies, reversed(select.inputs["X"])):
            branch.outputs.append(name)
        operator.outputs["Out"] += select.outputs["Out"]
        self._joined.add(id(select))

    def replacement(self, operator: PaddleNode) -> list[PaddleNode]:
        """Return what takes the place of an operator."""
        if id(operator) in self._joined:
            return []
        if operator.op_type != "conditional_block":
            return [operator]
        if id(operator) in self._ifs:
            joined = self._ifs[id(operator)]
            return [joined] if joined else []
        names = list(operator.output_keys())
        alone = _new_if(operator, [operator.bodies[0], PaddleBlock()])
        for branch in alone.bodies:
            branch.outputs += names
        alone.outputs["Out"] += names
        return [alone]


def _new_if(block: PaddleNode, branches: list[PaddleBlock]) -> PaddleNode:
    branches = [PaddleBlock(nodes=branch.nodes, variables=branch.variables) for branch in branches]
    return PaddleNode("", "if", {"Cond": block.inputs.get("Cond", [])}, {"Out": []}, {}, branches)
