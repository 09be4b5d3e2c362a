"""The small models of behaviour tests, made of an operation that the device is found to run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from hetero import Core, Model, Node, Op, Output, Parameter, Type, ops
from hetero.errors import GraphError, UnsupportedOperationError
from hetero.graph import Constant, Result, as_output
from hetero.reference import Program

# How far results may lie from the reference's, relative to the largest magnitude of the output.
TOLERANCES = {Type.f32: 1e-4, Type.f16: 1e-2, Type.bf16: 5e-2, Type.f64: 1e-4}
_TYPES = (*TOLERANCES, Type.i32, Type.i64, Type.i8, Type.u8, Type.boolean)


class Unheard(Op):
    """An operation that no device knows."""

    inputs = ("x",)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


@dataclass(frozen=True)
class Sample:
    """An operation of one value, with the element type and the shape of a row that the device takes.

    Its models take values of the shape [rows, *row], where -1 rows are dynamic, and their results have the same shape
    and element type.
    """

    apply: Callable[[Output], Node]
    element_type: Type
    row: tuple[int, ...]
    takes_dynamic: bool = False

    def parameter(self, name: str, rows: int = 2) -> Parameter:
        """An input of this name, also as a tensor name."""
        parameter = Parameter(self.element_type, [rows, *self.row], name=name)
        parameter.output(0).names = {name}
        return parameter

    def node(self, value: Output | Node, name: str) -> Output:
        """The operation on a value under this name, also as a tensor name."""
        output = self.apply(as_output(value)).output(0)
        output.node.friendly_name = name
        output.names = {name}
        return output

    def model(self, rows: int = 2, length: int = 1) -> Model:
        """x → y, by as many operations: x → y1 → … → y."""
        x = self.parameter("x", rows)
        value = x.output(0)
        for index in range(1, length):
            value = self.node(value, f"y{index}")
        return Model(self.node(value, "y"), [x], "sample")

    def two_inputs(self, rows: int = 2) -> Model:
        """a → c and b → d."""
        a, b = self.parameter("a", rows), self.parameter("b", rows)
        return Model([self.node(a, "c"), self.node(b, "d")], [a, b], "two")

    def array(self, seed: int = 0, rows: int = 2) -> np.ndarray:
        """An input: numbers from 0.1 to 0.9, whole ones from 1 to 9, or truth values."""
        generator, shape = np.random.default_rng(seed), (rows, *self.row)
        if self.element_type in TOLERANCES:
            return generator.uniform(0.1, 0.9, shape).astype(self.element_type.to_dtype())
        return generator.integers(*((0, 2) if self.element_type is Type.boolean else (1, 10)), shape).astype(
            self.element_type.to_dtype()
        )

    def expected(self, array: np.ndarray, length: int = 1) -> np.ndarray:
        """What ``model(length=length)`` makes of an array, by the reference."""
        return reference(self.model(len(array), length), [array])[0]


def reference(model: Model, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The outputs of a model by the reference."""
    return Program(model).run([array.copy() for array in arrays], {})


def assert_close(found: np.ndarray, expected: np.ndarray, scale: float = 1) -> None:
    """Same shape, same element type, and no further off than ``TOLERANCES`` times the scale allow."""
    assert found.shape == expected.shape, f"the shape is {found.shape}, not {expected.shape}"
    assert found.dtype == expected.dtype, f"the element type is {found.dtype}, not {expected.dtype}"
    kind = Type(expected.dtype)
    if kind not in TOLERANCES:
        np.testing.assert_array_equal(found, expected)
        return
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    finite = np.abs(expected[np.isfinite(expected)])
    limit = scale * TOLERANCES[kind]
    np.testing.assert_allclose(found, expected, rtol=limit, atol=limit * finite.max(initial=0))


def described(ports: Sequence[Output]) -> list[tuple]:
    """Names, element type and shape of each port."""
    return [(port.names, port.element_type, port.partial_shape) for port in ports]


def claims(core: Core, model: Model, device: str) -> bool:
    """Whether the device says that it can run every operation of the model."""
    return claims_all(core.query_model(model, device), model)


def claims_all(found: Mapping[str, str], model: Model) -> bool:
    """Whether what query_model answered has every operation of the model."""
    return all(node.friendly_name in found for node in operations(model))


def check_refusal(core: Core, model: Model, device: str) -> None:
    """That the device, which does not claim all of the model, says why and does not compile it."""
    found = core.query_model(model, device)
    refused = getattr(found, "refused", {})  # a plain dictionary gives no reasons
    assert refused and all(refused.values()), "no reason is given"
    assert not found.keys() & refused.keys(), "operations are both claimed and refused"
    with pytest.raises(UnsupportedOperationError):
        core.compile_model(model, device)


def operations(model: Model) -> list[Node]:
    """The nodes that are work: neither Parameters, Constants nor Results."""
    return [node for node in model.get_ordered_ops() if not isinstance(node, (Parameter, Constant, Result))]


def find_sample(core: Core, device: str) -> Sample:
    """The first sample that the device claims, one that it claims for a dynamic number of rows if there is such."""
    static = None
    for sample in _candidates():
        try:
            static_model, dynamic_model = sample.model(), sample.model(-1)
        except GraphError:  # there is no such operation on this element type
            continue
        if claims(core, static_model, device):
            if claims(core, dynamic_model, device):
                return Sample(sample.apply, sample.element_type, sample.row, takes_dynamic=True)
            static = static or sample
    if static is None:
        raise LookupError(
            f"{device} claims none of the operations that behaviour tests can be made of: an element-wise one, MatMul, "
            "Softmax, a reduction, a convolution or a pooling, in one of the usual element types"
        )
    return static


def _candidates() -> Iterator[Sample]:
    for kind in _TYPES:
        for apply in (*map(_of_one, _UNARY), *map(_of_itself, _BINARY), *_OF_MATRICES):
            yield Sample(apply, kind, (3,))
        if kind in TOLERANCES:
            yield Sample(lambda x: ops.Softmax(x, 1), kind, (3,))
        for apply in _OF_COLUMNS:
            yield Sample(apply, kind, (1,))
        for apply in _OF_IMAGES:
            yield Sample(apply, kind, (3, 4, 4))


def _of_one(kind: type[Op]) -> Callable[[Output], Node]:
    return lambda x: kind(x)


def _of_itself(kind: type[Op]) -> Callable[[Output], Node]:
    return lambda x: kind(x, x)


_UNARY = (
    ops.Relu, ops.Sigmoid, ops.Tanh, ops.Abs, ops.Negative, ops.Exp, ops.Sqrt, ops.Log, ops.Erf, ops.Sin, ops.Cos,
    ops.Tan, ops.Sign, ops.Floor, ops.Ceiling, ops.Round, ops.HSwish, ops.HSigmoid, ops.Mish, ops.SoftPlus,
    ops.SoftSign, ops.Gelu, ops.Swish, ops.LogicalNot, ops.BitwiseNot,
)  # fmt: skip
_BINARY = (
    ops.Add, ops.Multiply, ops.Maximum, ops.Minimum, ops.Subtract, ops.Divide, ops.SquaredDifference, ops.Power,
    ops.Mod, ops.FloorMod, ops.LogicalAnd, ops.LogicalOr, ops.LogicalXor, ops.BitwiseAnd, ops.BitwiseOr, ops.BitwiseXor,
)  # fmt: skip
_OF_MATRICES: tuple[Callable[[Output], Node], ...] = (
    lambda x: ops.Clamp(x, 0.25, 0.75),
    lambda x: ops.MatMul(x, Constant(np.eye(3, dtype=x.element_type.to_dtype())[::-1].copy()), False, False),
    lambda x: ops.Concat([x], 1),
    lambda x: ops.Reshape(x, np.int64([0, 0]), True),
)
_OF_COLUMNS: tuple[Callable[[Output], Node], ...] = (
    lambda x: ops.ReduceSum(x, np.int64([1]), True),
    lambda x: ops.ReduceMax(x, np.int64([1]), True),
    lambda x: ops.ReduceMean(x, np.int64([1]), True),
)
_OF_IMAGES: tuple[Callable[[Output], Node], ...] = (
    lambda x: ops.Convolution(
        x, Constant(np.full((3, 3, 1, 1), 0.5, x.element_type.to_dtype())), [1, 1], [0, 0], [0, 0], [1, 1]
    ),
    lambda x: ops.MaxPoolV1(x, [1, 1], [0, 0], [0, 0], [1, 1]),
    lambda x: ops.AvgPoolV1(x, [1, 1], [0, 0], [0, 0], [1, 1], True),
)
