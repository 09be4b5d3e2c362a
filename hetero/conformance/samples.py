"""Small models for behavior tests, built from one operation that the device supports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from hetero import Core, Model, Node, Op, Output, Parameter, Type, ops
from hetero import properties as props
from hetero.graph import Constant, as_output, is_terminal
from hetero.reference import Program, UncancelledRun
from hetero.system.errors import GraphError, UnsupportedOperationError

# Tolerance of results, relative to the largest magnitude of the output.
TOLERANCES = {Type.f32: 1e-4, Type.f16: 1e-2, Type.bf16: 5e-2, Type.f64: 1e-4}
_TYPES = (*TOLERANCES, Type.i32, Type.i64, Type.i8, Type.u8, Type.boolean)


class UnknownOperation(Op):
    """An operation that no device supports."""

    input_names = ("x",)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


@dataclass(frozen=True)
class SampleModel:
    """An operation of one input, with an element type and a row shape that the device supports.

    Inputs and results of its models have the shape [rows, *row] and this element type; -1 rows are dynamic.
    """

    apply: Callable[[Output], Node]
    element_type: Type
    row: tuple[int, ...]
    takes_dynamic: bool = False

    def parameter(self, name: str, rows: int = 2) -> Parameter:
        """Return an input with this friendly name and tensor name."""
        parameter = Parameter(self.element_type, [rows, *self.row], name=name)
        parameter.output(0).names = {name}
        return parameter

    def node(self, value: Output | Node, name: str) -> Output:
        """Apply the operation to a value; the node gets this friendly name and its output this tensor name."""
        output = self.apply(as_output(value)).output(0)
        output.node.friendly_name = name
        output.names = {name}
        return output

    def model(self, rows: int = 2, length: int = 1) -> Model:
        """Return a model of a chain of ``length`` operations: x → y1 → … → y."""
        x = self.parameter("x", rows)
        value = x.output(0)
        for index in range(1, length):
            value = self.node(value, f"y{index}")
        return Model(self.node(value, "y"), [x], "sample")

    def two_inputs(self, rows: int = 2) -> Model:
        """Return a model of two independent operations: a → c and b → d."""
        a, b = self.parameter("a", rows), self.parameter("b", rows)
        return Model([self.node(a, "c"), self.node(b, "d")], [a, b], "two")

    def array(self, seed: int = 0, rows: int = 2) -> np.ndarray:
        """Return an input: reals from 0.1 to 0.9, integers from 1 to 9 or booleans."""
        return random_array(self.element_type, (rows, *self.row), seed, (0.1, 0.9))

    def with_unknown_operation(self) -> Model:
        """Return a model of the operation, named "known", and an UnknownOperation, named "unheard", on its result."""
        x = self.parameter("x")
        return Model(UnknownOperation(self.node(x, "known"), name="unheard"), [x])

    def check(self, infer: Callable[[np.ndarray], Any], seed: int = 0, rows: int = 2, length: int = 1) -> None:
        """Check that ``infer``, an inference of ``model(length=length)``, returns the expected result for an array."""
        array = self.array(seed, rows)
        assert_close(infer(array)[0], self.expected(array, length), scale=length)

    def expected(self, array: np.ndarray, length: int = 1) -> np.ndarray:
        """Return the result of ``model(length=length)`` for an array, computed by the reference."""
        return Program(self.model(len(array), length)).run([array.copy()], UncancelledRun())[0]


def random_array(kind: Type, shape: tuple[int, ...], seed: int, limits: tuple[float, float]) -> np.ndarray:
    """Return an array of reals between the limits, integers from 1 to 9 or booleans."""
    generator = np.random.default_rng(seed)
    if kind in TOLERANCES:
        return generator.uniform(*limits, shape).astype(kind.to_dtype())
    return generator.integers(*((0, 2) if kind is Type.boolean else (1, 10)), shape).astype(kind.to_dtype())


def assert_close(actual: np.ndarray, expected: np.ndarray, scale: float = 1) -> None:
    """Assert equal shapes and element types, and differences within ``TOLERANCES`` times ``scale``."""
    assert actual.shape == expected.shape, f"the shape is {actual.shape}, not {expected.shape}"
    assert actual.dtype == expected.dtype, f"the element type is {actual.dtype}, not {expected.dtype}"
    kind = Type(expected.dtype)
    if kind not in TOLERANCES:
        np.testing.assert_array_equal(actual, expected)
        return
    actual, expected = actual.astype(np.float64), expected.astype(np.float64)
    finite = np.abs(expected[np.isfinite(expected)])
    tolerance = scale * TOLERANCES[kind]
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance * finite.max(initial=0))


def on_threads(work: Callable[[int], None], count: int = 4) -> None:
    """Call ``work(index)`` on several threads at once, and raise its errors, or TimeoutError after a minute."""
    list(ThreadPoolExecutor(count).map(work, range(count), timeout=60))


def describe_ports(ports: Sequence[Output]) -> list[tuple[Any, ...]]:
    """Return the names, the element type and the shape of each port."""
    return [(port.names, port.element_type, port.partial_shape) for port in ports]


def used_devices(core: Core, device: str) -> list[str]:
    """Return the devices that a virtual device such as MULTI:CPU.0,CPU.1 uses; another device is its own."""
    plugin, options = core.resolve_device(device)
    if not plugin.is_virtual:
        return [device]
    names = [name.partition("(")[0] for name in options.get(props.device.priorities, ())]
    return names or core.host.available_devices


def supports(core: Core, model: Model, device: str) -> bool:
    """Return whether query_model says that the device supports every operation of the model, maybe not alone."""
    return supports_all(core.query_model(model, device), model)


def supports_all(answer: Mapping[str, str], model: Model) -> bool:
    """Return whether the answer of query_model contains every operation of the model, maybe not alone."""
    together = getattr(answer, "together", ())  # a plain dictionary has none
    return all(node.friendly_name in answer or node.friendly_name in together for node in operations(model))


def check_refusal(core: Core, model: Model, device: str) -> None:
    """Check that a device that does not support all of a model gives reasons and does not compile it."""
    answer = core.query_model(model, device)
    refused = getattr(answer, "refused", {})  # a plain dictionary has no reasons
    assert refused and all(refused.values()), "query_model gives no reason for an unsupported operation"
    assert not answer.keys() & refused.keys(), "query_model returns operations as both supported and refused"
    with pytest.raises(UnsupportedOperationError):
        core.compile_model(model, device)


def operations(model: Model) -> list[Node]:
    """Return the nodes of a model other than Parameters, Constants and Results."""
    return [node for node in model.get_ordered_ops() if not is_terminal(node)]


def find_sample(core: Core, device: str) -> SampleModel:
    """Return the first sample that the device supports, preferably with a dynamic number of rows.

    Raises LookupError if it supports none.
    """
    static = None
    for sample in _candidates():
        try:
            static_model, dynamic_model = sample.model(), sample.model(-1)
        except GraphError:  # the operation is not defined for this element type
            continue
        if supports(core, static_model, device):
            if supports(core, dynamic_model, device):
                return SampleModel(sample.apply, sample.element_type, sample.row, takes_dynamic=True)
            static = static or sample
    if static is None:
        raise LookupError(
            f"{device} supports none of the operations that behavior tests can use: an element-wise one, MatMul, "
            "Softmax, a reduction, a convolution or a pooling, in one of the usual element types"
        )
    return static


def _candidates() -> Iterator[SampleModel]:
    for kind in _TYPES:
        for apply in (*_UNARY, *map(_apply_to_itself, _BINARY), *_ON_ROWS):
            yield SampleModel(apply, kind, (3,))
        if kind in TOLERANCES:
            yield SampleModel(lambda x: ops.Softmax(x, 1), kind, (3,))
        for apply in _ON_COLUMNS:
            yield SampleModel(apply, kind, (1,))
        for apply in _ON_IMAGES:
            yield SampleModel(apply, kind, (3, 4, 4))


def _apply_to_itself(kind: type[Op]) -> Callable[[Output], Node]:
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
_ON_ROWS: tuple[Callable[[Output], Node], ...] = (
    lambda x: ops.Clamp(x, 0.25, 0.75),
    lambda x: ops.MatMul(x, Constant(np.eye(3, dtype=x.element_type.to_dtype())[::-1].copy()), False, False),
    lambda x: ops.Concat([x], 1),
    lambda x: ops.Reshape(x, [0, 0], True),
)
_ON_COLUMNS: tuple[Callable[[Output], Node], ...] = (
    lambda x: ops.ReduceSum(x, [1], True),
    lambda x: ops.ReduceMax(x, [1], True),
    lambda x: ops.ReduceMean(x, [1], True),
)
_ON_IMAGES: tuple[Callable[[Output], Node], ...] = (
    lambda x: ops.Convolution(
        x, Constant(np.full((3, 3, 1, 1), 0.5, x.element_type.to_dtype())), [1, 1], [0, 0], [0, 0], [1, 1]
    ),
    lambda x: ops.MaxPoolV1(x, [1, 1], [0, 0], [0, 0], [1, 1]),
    lambda x: ops.AvgPoolV1(x, [1, 1], [0, 0], [0, 0], [1, 1], True),
)
