"""Write a model of 5,000 operations in residual blocks: ``python -m tests.browser.large_model FILE.xml``."""

import sys

from hetero import Model, Parameter, Type, ops, save_model

BLOCKS = 1000


def large_model() -> Model:
    x = Parameter(Type.f32, [1, 8], name="x")
    value = x
    for index in range(BLOCKS):
        inner = ops.Relu(value, name=f"block{index}/relu")
        gate = ops.Sigmoid(inner, name=f"block{index}/gate")
        gated = ops.Multiply(gate, ops.Tanh(inner, name=f"block{index}/tanh"), name=f"block{index}/gated")
        value = ops.Add(gated, value, name=f"block{index}/add")
    return Model([value], [x], "large")


if __name__ == "__main__":
    save_model(large_model(), sys.argv[1])
