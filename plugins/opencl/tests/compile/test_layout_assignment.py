"""Layout assignment, compared with trying all assignments."""

import itertools
from typing import ClassVar

import numpy as np
import pytest
from hetero_opencl.compile.layout_assignment import assign_layouts
from hetero_opencl.lowering.implementation import ROWS, Blocks, Choice, Implementation, Permuted, Signature

from hetero import Model, Parameter, Type, ops

LAYOUTS = [ROWS, Blocks(16), Permuted((1, 0))]


class Anything(Implementation):
    def emit(self, lowering, operation, signature, configuration):
        raise NotImplementedError


ANYTHING = Anything()


class Problem:
    """Operations that read one or two values, with random costs; ``shared``: values may have several readers."""

    conversions: ClassVar[dict] = {}

    def __init__(self, seed: int, count: int, shared: bool) -> None:
        generator = np.random.default_rng(seed)
        self.prices = {pair: generator.uniform(0, 3) for pair in itertools.permutations(LAYOUTS, 2)}
        parameters, unread, self.choices = [], [], {}

        def source():
            if unread and generator.random() < 0.7:
                return unread.pop(generator.integers(len(unread)))
            if shared and self.choices and generator.random() < 0.6:
                return list(self.choices)[generator.integers(len(self.choices))]
            parameters.append(Parameter(Type.f32, (2, 2)))
            return parameters[-1]

        for _ in range(count):
            inputs = [source() for _ in range(generator.integers(1, 3))]
            node = ops.Relu(inputs[0]) if len(inputs) == 1 else ops.Add(*inputs)
            options = [
                Choice(ANYTHING, Signature(tuple(pair[: len(inputs)]), pair[-1]), {}, generator.uniform(0, 4))
                for pair in itertools.permutations(LAYOUTS)
            ]
            self.choices[node] = [options[0], *options[1 : generator.integers(1, 4)]]
            unread.append(node)
        self.model = Model(unread, parameters)
        self.choices = {node: self.choices[node] for node in self.model.get_ordered_ops() if node in self.choices}

    def conversion(self, value, written, read) -> float:
        return 0.0 if written == read else self.prices[written, read]

    def seconds(self, chosen) -> float:
        """The time of all operations and conversions; a value is converted once for all readers of a layout."""
        conversions = set()
        for node, choice in chosen.items():
            for value, layout in zip(node.input_values(), choice.signature.inputs):
                written = chosen[value.node].signature.output if value.node in chosen else ROWS
                conversions.add((value, written, layout))
            readers = node.output(0).get_target_inputs()
            if any(reader.node not in chosen for reader in readers):
                conversions.add((node.output(0), choice.signature.output, ROWS))
        return sum(choice.seconds for choice in chosen.values()) + sum(self.conversion(*one) for one in conversions)

    def least(self) -> float:
        options = itertools.product(*self.choices.values())
        return min(self.seconds(dict(zip(self.choices, one))) for one in options)


@pytest.mark.parametrize("seed", range(30))
def test_trees_are_solved_exactly(seed):
    problem = Problem(seed, 7, shared=False)
    chosen = assign_layouts(problem.choices, problem.conversion)
    assert problem.seconds(chosen) == pytest.approx(problem.least())


def test_other_graphs_are_solved_nearly():
    """Values with several readers make the problem hard: the mean excess is small, and no single change helps."""
    excess = []
    for seed in range(40):
        problem = Problem(seed, 7, shared=True)
        chosen = assign_layouts(problem.choices, problem.conversion)
        found = problem.seconds(chosen)
        excess.append(found / problem.least() - 1)
        for node, options in problem.choices.items():
            assert all(problem.seconds({**chosen, node: option}) >= found - 1e-9 for option in options)
    assert np.mean(excess) < 0.03
    assert min(excess) > -1e-9
