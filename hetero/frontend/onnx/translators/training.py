"""Steps of optimizers, of the domain ai.onnx.preview.training.

Their inputs are the learning rate R and the number of steps T, and then all tensors to be optimized, all their
gradients, and all their states, kind by kind.
"""

from __future__ import annotations

from collections.abc import Callable

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.onnx.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import scalar_like
from hetero.graph import Op, Output

_DOMAIN = "ai.onnx.preview.training"
# Takes the node, R, T, one tensor, its gradient and its states; returns the new tensor and the new states.
Step = Callable[..., list[Op]]


def _for_each_tensor(step: Step, kinds: int) -> Callable[[OnnxNodeContext], Translation]:
    def translate(node: OnnxNodeContext) -> Translation:
        rate, count, *tensors = node.get_inputs()
        number = len(tensors) // kinds
        if number * kinds != len(tensors):
            raise FrontendError(f"it has {len(tensors)} tensors, which is no multiple of {kinds}")
        steps = [step(node, rate, count, *tensors[index::number]) for index in range(number)]
        return [made.output(0) for made_of_one_kind in zip(*steps) for made in made_of_one_kind]

    return translate


def _scaled(value: Output | Op, factor: float) -> Op:
    value = value.output(0) if isinstance(value, Op) else value
    return ops.Multiply(value, scalar_like(value, factor))


def _plus(value: Output | Op, number: float) -> Op:
    value = value.output(0) if isinstance(value, Op) else value
    return ops.Add(value, scalar_like(value, number))


def _regularized(node: OnnxNodeContext, tensor: Output, gradient: Output) -> Op:
    return ops.Add(_scaled(tensor, node.get_attribute("norm_coefficient", 0.0)), gradient)


def _adagrad(
    node: OnnxNodeContext, rate: Output, count: Output, x: Output, gradient: Output, squares: Output
) -> list[Op]:
    decayed = ops.Divide(
        rate, _plus(_scaled(ops.Convert(count, x.element_type), node.get_attribute("decay_factor", 0.0)), 1)
    )
    gradient = _regularized(node, x, gradient).output(0)
    squares = ops.Add(squares, ops.Multiply(gradient, gradient)).output(0)
    adapted = _plus(ops.Sqrt(squares), node.get_attribute("epsilon", 0.0))
    return [ops.Subtract(x, ops.Divide(ops.Multiply(decayed, gradient), adapted)), squares.node]


def _adam(
    node: OnnxNodeContext, rate: Output, count: Output, x: Output, gradient: Output, mean: Output, square: Output
) -> list[Op]:
    alpha, beta = node.get_attribute("alpha", 0.9), node.get_attribute("beta", 0.999)
    gradient = _regularized(node, x, gradient).output(0)
    mean = ops.Add(_scaled(mean, alpha), _scaled(gradient, 1 - alpha))
    square = ops.Add(_scaled(square, beta), _scaled(ops.Multiply(gradient, gradient), 1 - beta))
    steps = ops.Convert(count, x.element_type)
    powers = [_plus(_scaled(ops.Power(scalar_like(x, base), steps), -1), 1) for base in (alpha, beta)]
    # Nothing is corrected at step 0, where both divisors are 0.
    corrected = ops.Divide(ops.Multiply(rate, ops.Sqrt(powers[1])), powers[0])
    adjusted = ops.Select(ops.Greater(count, scalar_like(count, 0)), corrected, rate)
    change = ops.Divide(ops.Multiply(adjusted, mean), _plus(ops.Sqrt(square), node.get_attribute("epsilon", 0.0)))
    kept = _scaled(ops.Subtract(x, change), 1 - node.get_attribute("norm_coefficient_post", 0.0))
    return [kept, mean, square]


def _momentum(
    node: OnnxNodeContext, rate: Output, count: Output, x: Output, gradient: Output, velocity: Output
) -> list[Op]:
    alpha, beta, mode = (node.get_attribute(name) for name in ("alpha", "beta", "mode"))
    gradient = _regularized(node, x, gradient).output(0)
    share = ops.Select(ops.Greater(count, scalar_like(count, 0)), scalar_like(x, beta), scalar_like(x, 1))
    velocity = ops.Add(_scaled(velocity, alpha), ops.Multiply(gradient, share))
    if mode not in ("standard", "nesterov"):
        raise FrontendError(f"mode {mode} is none of standard and nesterov")
    direction = velocity if mode == "standard" else ops.Add(gradient, _scaled(velocity, alpha))
    return [ops.Subtract(x, ops.Multiply(rate, direction)), velocity]


translator("Adagrad", domain=_DOMAIN)(_for_each_tensor(_adagrad, 3))
translator("Adam", domain=_DOMAIN)(_for_each_tensor(_adam, 4))
translator("Momentum", domain=_DOMAIN)(_for_each_tensor(_momentum, 3))
