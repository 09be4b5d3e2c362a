"""PaddleSubgraph, a block of an operator: a branch of a condition or the body of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hetero.frontend.paddle.decoded import DecodedBlock
from hetero.frontend.translation.subgraph import Body, ModelScope, Subgraph, name_first_output
from hetero.graph import Model, Node, Output, Parameter

if TYPE_CHECKING:
    from hetero.frontend.paddle.graph import GraphBuilder


class PaddleSubgraph(Subgraph):
    """A block, and the builder of the block around it, whose variables it may read."""

    def __init__(self, block: DecodedBlock, outer: GraphBuilder) -> None:
        self.block, self._outer = block, outer
        self.name, self.input_count, self.output_count = "block", len(block.inputs), len(block.outputs)

    def lacks(self, index: int) -> bool:
        """Return whether an output is a variable that this block does not set, and that has no value before it."""
        name = self.block.outputs[index]
        is_set = any(name in operator.output_names() for operator in self.block.operators)
        return not is_set and not self._outer.is_defined(name)

    def build(self, inputs: Sequence[Node], parameters: Sequence[Parameter]) -> Body:
        return self.build_part(inputs, parameters, range(self.input_count), range(self.output_count))

    def build_part(
        self, inputs: Sequence[Node], parameters: Sequence[Parameter], inputs_kept: Sequence[int], kept: Sequence[int]
    ) -> Body:
        """Translate the block to a Model that has only these inputs and outputs."""
        scope = ModelScope()
        for place, node in zip(inputs_kept, inputs):
            scope.name(node, self.block.inputs[place])
        outputs = self._translate([node.output(0) for node in inputs], scope, "", inputs_kept, kept)
        return Body(Model(outputs, [*parameters, *scope.captured.values()], self.name), list(scope.captured))

    def inline(self, inputs: Sequence[Output], name: str) -> list[Output]:
        self.check_input_count(len(inputs))
        return self.inline_part(inputs, name, range(self.output_count))

    def inline_part(self, inputs: Sequence[Output], name: str, kept: Sequence[int]) -> list[Output]:
        """Translate the block into the outer graph and return these outputs."""
        outputs = self._translate(inputs, self._outer.scope, f"{name}/", range(self.input_count), kept)
        name_first_output(name, outputs)
        return outputs

    def _translate(
        self,
        inputs: Sequence[Output],
        scope: ModelScope,
        prefix: str,
        inputs_kept: Sequence[int],
        kept: Sequence[int],
    ) -> list[Output]:
        builder = self._outer.enter(self.block, scope, prefix)
        for place, value in zip(inputs_kept, inputs):
            builder.define(self.block.inputs[place], value)
        builder.translate()
        return [builder.value(self.block.outputs[index], "the output of the block") for index in kept]
