"""Random programs with variables: as models, and their meaning in plain Python, which shares no code with hetero.

All contents are small integers in f32, so that every device is exact. Values are rows of shape [1, 2]; with dynamic
shapes, contents of variables have any number of rows.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

from hetero import Model, Parameter, Type, opset13
from hetero.ops import Assign, Concat, If, Loop, ReadValue, Result

Contents = MutableMapping[str, np.ndarray]
# The functions by their names in hetero.
UNARY = {"relu": lambda a: np.maximum(a, 0), "negative": lambda a: -a, "abs": np.abs}
BINARY = {"add": np.add, "subtract": np.subtract, "maximum": np.maximum, "minimum": np.minimum}
LIMIT = 1000
AXES = np.int64([0])


@dataclass(eq=False)
class Instruction:
    """An operation on the values of other instructions; ``bodies`` are those of an If or a Loop."""

    kind: str
    sources: list[Instruction] = field(default_factory=list)
    name: str = ""
    bodies: list[Program] = field(default_factory=list)


@dataclass(eq=False)
class Program:
    """A graph or a body: its parameters, its results, and what runs without being a result."""

    parameters: list[Instruction]
    results: list[Instruction]
    sinks: list[Instruction]

    def order(self) -> list[Instruction]:
        """Return all instructions in depth-first order from the results, then from the sinks."""
        order: dict[Instruction, None] = {}

        def visit(instruction: Instruction) -> None:
            if instruction not in order:
                for source in instruction.sources:
                    visit(source)
                order[instruction] = None

        for end in (*self.parameters, *self.results, *self.sinks):
            visit(end)
        return list(order)

    def run(self, inputs: Sequence[np.ndarray], contents: Contents) -> list[np.ndarray]:
        """Return the results, and change the contents of variables as the run does."""
        values = dict(zip(self.parameters, inputs))
        assigned: dict[str, np.ndarray] = {}
        in_bodies: dict[str, np.ndarray] = {}
        for instruction in self.order():
            if instruction in values:
                continue
            arrays = [values[source] for source in instruction.sources]
            if instruction.kind == "assign":
                values[instruction] = assigned[instruction.name] = arrays[0]
            elif instruction.kind == "read":
                values[instruction] = contents.get(instruction.name, arrays[0] if arrays else np.zeros([1, 2]))
            elif instruction.bodies:
                changes: dict[str, np.ndarray] = {}
                values[instruction] = _run_bodies(instruction, arrays, ChainMap(changes, contents))
                in_bodies |= changes
            else:
                values[instruction] = _compute(instruction, arrays)
        contents.update(in_bodies | assigned)
        return [values[result] for result in self.results]


def _run_bodies(instruction: Instruction, arrays: Sequence[np.ndarray], contents: Contents) -> np.ndarray:
    control, carried, other = arrays
    if instruction.kind == "if":
        return instruction.bodies[0 if np.sum(control) > 0 else 1].run([carried, other], contents)[0]
    for _ in range(int(control)):
        (carried,) = instruction.bodies[0].run([carried, other], contents)
    return carried


def _compute(instruction: Instruction, arrays: Sequence[np.ndarray]) -> np.ndarray:
    name = instruction.name
    if instruction.kind == "constant":
        return np.full([1, 2], int(name))
    if instruction.kind == "count":
        return np.int64(name)
    if instruction.kind == "sum":
        return arrays[0].sum(0, keepdims=True)
    if instruction.kind == "concat":
        return np.concatenate(arrays)
    result = (UNARY | BINARY)[name](*arrays)
    return np.clip(result, -LIMIT, LIMIT) if name in BINARY else result


def model_of(program: Program, variable_shape: Sequence[int]) -> Model:
    """Return the model of a program. Operations are named after their numbers, those in bodies too."""
    parameters = [
        Parameter(Type.f32, [1, 2], name="x"),
        Parameter(Type.i64, [], name="k"),
        Parameter(Type.f32, [variable_shape[0], 2], name="rows"),
    ]
    return _Builder(variable_shape).model(program, parameters, "program")


class _Builder:
    def __init__(self, variable_shape: Sequence[int]) -> None:
        self._shape, self._count = list(variable_shape), 0

    def model(self, program: Program, parameters: Sequence[Parameter], name: str, first: Sequence = ()) -> Model:
        values = dict(zip(program.parameters, parameters))
        for instruction in program.order():
            if instruction not in values:
                values[instruction] = self._operation(instruction, [values[source] for source in instruction.sources])
        results = [*first, *(values[result] for result in program.results)]
        sinks = [values[sink] for sink in program.sinks]
        return Model([Result(result) for result in results], sinks, list(parameters), name)

    def _operation(self, instruction: Instruction, inputs: Sequence) -> object:
        self._count += 1
        node = self._made(instruction, inputs)
        node.friendly_name = f"{instruction.kind} {self._count}"
        if instruction.kind == "binary":
            node = opset13.clamp(node, -LIMIT, LIMIT)
            node.friendly_name = f"clamp {self._count}"
        return node

    def _made(self, instruction: Instruction, inputs: Sequence) -> object:
        kind, name = instruction.kind, instruction.name
        if kind == "constant":
            return opset13.constant(np.full([1, 2], int(name), np.float32))
        if kind == "count":
            return opset13.constant(np.int64(name))
        if kind == "sum":
            return opset13.reduce_sum(inputs[0], AXES, True)
        if kind == "concat":
            return Concat(list(inputs), 0)
        if kind == "assign":
            return Assign(inputs[0], name)
        if kind == "read":
            arguments = (inputs[0], name) if inputs else (name,)
            return ReadValue(*arguments, Type.f32, self._shape)
        if kind in ("if", "loop"):
            return self._with_bodies(instruction, *inputs)
        return getattr(opset13, name)(*inputs)

    def _with_bodies(self, instruction: Instruction, control, carried, other) -> If | Loop:
        if instruction.kind == "if":
            if control.get_output_element_type(0) is Type.f32:
                control = opset13.convert(opset13.reduce_sum(control, np.int64([0, 1]), False), Type.i64)
            node = opset13.if_op(opset13.greater(control, np.int64(0)))
            bodies = [self._body(body) for body in instruction.bodies]
            node.set_then_body(bodies[0])
            node.set_else_body(bodies[1])
            for index, value in enumerate((carried, other)):
                node.set_input(_output(value), *(body.parameters[index] for body in bodies))
            node.set_output(*(body.results[0] for body in bodies))
            return node
        node = opset13.loop(control, opset13.constant(True))
        body = self._body(instruction.bodies[0], [opset13.constant(True)])
        node.set_function(body)
        node.set_special_body_ports([-1, 0])
        node.set_merged_input(body.parameters[0], _output(carried), body.results[1].output(0))
        node.set_invariant_input(body.parameters[1], _output(other))
        node.get_iter_value(body.results[1].output(0), -1)
        return node

    def _body(self, program: Program, first: Sequence = ()) -> Model:
        return self.model(program, [Parameter(Type.f32, [1, 2]) for _ in range(2)], "body", first)


def _output(value):
    return value.output(0) if hasattr(value, "output") else value


class Generator:
    """Makes a random program with these variables; in bodies only with ``has_bodies``."""

    def __init__(self, random: Random, variables: Sequence[str], has_bodies: bool, is_dynamic: bool) -> None:
        self._random, self._variables = random, variables
        self._has_bodies, self._is_dynamic = has_bodies, is_dynamic

    def program(self) -> Program:
        x, k, rows = (Instruction("parameter") for _ in range(3))
        return self._graph([x, k, rows], [x, Instruction("sum", [rows])], self._random.randint(4, 12), k, rows)

    def _graph(
        self,
        parameters: list[Instruction],
        values: list[Instruction],
        size: int,
        control: Instruction | None = None,
        rows: Instruction | None = None,
        depth: int = 0,
    ) -> Program:
        """Return a program of ``size`` instructions; ``control`` decides its bodies; ``rows`` may be contents."""
        random, sinks = self._random, []
        read: list[Instruction] = [] if rows is None else [rows]
        for _ in range(size):
            kinds = ["unary", "binary", "binary", "read", "assign", "assign"]
            if control and self._has_bodies:
                kinds += ["if", "loop"]
            elif not control and depth < 2:
                kinds.append("if")
            kind = random.choice(kinds)
            some = [random.choice(values) for _ in range(2)]
            if kind == "unary":
                made = Instruction(kind, some[:1], random.choice([*UNARY]))
            elif kind == "binary":
                made = Instruction(kind, some, random.choice([*BINARY]))
            elif kind == "read":
                made = self._read(some, read)
            elif kind == "assign":
                made = self._assign(some, read)
                sinks.append(made)
                if self._is_dynamic:
                    made = Instruction("sum", [made])
            else:
                made = self._with_bodies(kind, self._control(control, some), some, depth)
                sinks.append(made)
            values.append(made)
        return Program(parameters, random.sample(values, random.randint(1, 3)) if control else [values[-1]], sinks)

    def _read(self, some: list[Instruction], read: list[Instruction]) -> Instruction:
        constant = Instruction("constant", name=str(self._random.randint(1, 9)))
        initial = self._random.choice([some[:1], [constant], [] if not self._is_dynamic else [constant]])
        node = Instruction("read", initial, self._random.choice(self._variables))
        if not self._is_dynamic:
            return node
        read.append(node)
        return Instruction("sum", [node])

    def _assign(self, some: list[Instruction], read: list[Instruction]) -> Instruction:
        value = some[0]
        if self._is_dynamic and read and self._random.random() < 0.6:
            value = self._random.choice(read)
            if self._random.random() < 0.5:
                value = Instruction("concat", [value, some[1]])
        return Instruction("assign", [value], self._random.choice(self._variables))

    def _control(self, control: Instruction | None, some: list[Instruction]) -> Instruction:
        """Return what decides bodies: an input, a number known at compile time, or in a body a value."""
        if control is None:
            return some[0]
        return control if self._random.random() < 0.7 else Instruction("count", name=str(self._random.randint(0, 2)))

    def _with_bodies(self, kind: str, control: Instruction, some: list[Instruction], depth: int) -> Instruction:
        bodies = []
        for _ in range(2 if kind == "if" else 1):
            parameters = [Instruction("parameter") for _ in range(2)]
            bodies.append(self._graph(parameters, list(parameters), self._random.randint(1, 4), depth=depth + 1))
        return Instruction(kind, [control, *some], bodies=bodies)
