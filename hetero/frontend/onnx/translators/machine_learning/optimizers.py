"""Optimizer steps of the domain ai.onnx.preview.training.

Inputs: the learning rate R, the step count T, then all tensors to optimize, all their gradients, and for each kind of
state the states of all tensors.
"""

from __future__ import annotations

from collections.abc import Callable

from hetero import ops
from hetero.frontend.onnx.node_context import OnnxNodeContext, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import multiply_by, scalar_like
from hetero.graph import Op, Output, as_output
from hetero.system.errors import FrontendError

_DOMAIN = "ai.onnx.preview.training"
# A function of the node, R, T, one tensor, its gradient and its states. It returns the new tensor and the new states.
Step = Callable[..., list[Op | Output]]


def _for_each_tensor(step: Step, group_count: int) -> Callable[[OnnxNodeContext], Translation]:
    """Return a translator that applies the step to each tensor.

    ``group_count``: the number of inputs for each tensor: the tensor, its gradient and its states.
    """

    def translate(node: OnnxNodeContext) -> Translation:
        rate, count, *inputs = node.get_inputs()
        tensor_count = len(inputs) // group_count
        if tensor_count * group_count != len(inputs):
            raise FrontendError(f"it has {len(inputs)} tensors, but their number must be a multiple of {group_count}")
        steps = [step(node, rate, count, *inputs[index::tensor_count]) for index in range(tensor_count)]
        return [as_output(value) for group in zip(*steps) for value in group]

    return translate


def _plus(value: Output | Op, number: float) -> Op:
    value = as_output(value)
    return ops.Add(value, scalar_like(value, number))


def _regularized(node: OnnxNodeContext, tensor: Output, gradient: Output) -> Output:
    """Return the gradient with L2 regularization."""
    return ops.Add(multiply_by(tensor, node.get_attribute("norm_coefficient", 0.0)), gradient).output(0)


def _adagrad(
    node: OnnxNodeContext, rate: Output, count: Output, x: Output, gradient: Output, squares: Output
) -> list[Op | Output]:
    decay = multiply_by(ops.Convert(count, x.element_type), node.get_attribute("decay_factor", 0.0))
    decayed = ops.Divide(rate, _plus(decay, 1))
    gradient = _regularized(node, x, gradient)
    squares = ops.Add(squares, ops.Multiply(gradient, gradient)).output(0)
    adapted = _plus(ops.Sqrt(squares), node.get_attribute("epsilon", 0.0))
    return [ops.Subtract(x, ops.Divide(ops.Multiply(decayed, gradient), adapted)), squares]


def _adam(
    node: OnnxNodeContext, rate: Output, count: Output, x: Output, gradient: Output, mean: Output, square: Output
) -> list[Op | Output]:
    alpha, beta = node.get_attribute("alpha", 0.9), node.get_attribute("beta", 0.999)
    gradient = _regularized(node, x, gradient)
    mean = ops.Add(multiply_by(mean, alpha), multiply_by(gradient, 1 - alpha)).output(0)
    squared = multiply_by(ops.Multiply(gradient, gradient), 1 - beta)
    square = ops.Add(multiply_by(square, beta), squared).output(0)
    steps = ops.Convert(count, x.element_type)
    powers = [_plus(multiply_by(ops.Power(scalar_like(x, base), steps), -1), 1) for base in (alpha, beta)]
    # No bias correction at step 0, where both divisors are 0.
    corrected = ops.Divide(ops.Multiply(rate, ops.Sqrt(powers[1])), powers[0])
    adjusted = ops.Select(ops.Greater(count, scalar_like(count, 0)), corrected, rate)
    change = ops.Divide(ops.Multiply(adjusted, mean), _plus(ops.Sqrt(square), node.get_attribute("epsilon", 0.0)))
    updated = multiply_by(ops.Subtract(x, change), 1 - node.get_attribute("norm_coefficient_post", 0.0))
    return [updated, mean, square]


def _momentum(
    node: OnnxNodeContext, rate: Output, count: Output, x: Output, gradient: Output, velocity: Output
) -> list[Op | Output]:
    alpha, beta, mode = (node.get_attribute(name) for name in ("alpha", "beta", "mode"))
    gradient = _regularized(node, x, gradient)
    factor = ops.Select(ops.Greater(count, scalar_like(count, 0)), scalar_like(x, beta), scalar_like(x, 1))
    velocity = ops.Add(multiply_by(velocity, alpha), ops.Multiply(gradient, factor)).output(0)
    if mode not in ("standard", "nesterov"):
        raise FrontendError(f"mode must be standard or nesterov, but is {mode}")
    direction = velocity if mode == "standard" else ops.Add(gradient, multiply_by(velocity, alpha))
    return [ops.Subtract(x, ops.Multiply(rate, direction)), velocity]


translator("Adagrad", domain=_DOMAIN)(_for_each_tensor(_adagrad, 3))
translator("Adam", domain=_DOMAIN)(_for_each_tensor(_adam, 4))
translator("Momentum", domain=_DOMAIN)(_for_each_tensor(_momentum, 3))
