"""A device like TEMPLATE, of which some operations are wrong."""

from collections.abc import Callable

from hetero_template.plugin import TemplatePlugin

from hetero import Model, ops
from hetero.graph import Node, is_terminal, walk_nested


def all_real(node: Node) -> bool:
    return all(output.element_type.is_real() for output in node.outputs())


class PlantedPlugin(TemplatePlugin):
    """TEMPLATE, but it multiplies the outputs of operations by ``factor``: those that ``wrong_in`` selects."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = 1.01
        self.wrong_in: Callable[[list[Node]], list[Node]] = lambda nodes: []

    def plant(self, *names: str) -> None:
        self.wrong_in = lambda nodes: [node for node in nodes if node.friendly_name in names]

    def transform_model(self, model: Model, properties) -> Model:
        for node in self.wrong_in([*(node for node in walk_nested(model.get_ordered_ops()) if not is_terminal(node))]):
            for output in node.outputs():
                readers = output.get_target_inputs()
                scaled = ops.Multiply(output, output.element_type.to_dtype().type(self.factor))
                for reader in readers:
                    reader.replace_source_output(scaled.output(0))
        return super().transform_model(model, properties)
