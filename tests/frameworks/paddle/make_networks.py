"""Saves the small networks of networks.py: as JSON programs with Paddle 3, as ``.pdmodel`` files with Paddle 2.

``python -m tests.frameworks.paddle.make_networks FOLDER``. It needs nothing but PaddlePaddle: Paddle 2 cannot live in
one environment with hetero.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import paddle
from paddle.base.proto import framework_pb2

from tests.frameworks.paddle.networks import Network, networks

SMALL = ("branches", "detector", "encoder", "light_classifier", "recognizer", "segmenter", "text_detector")


def results(network: Network) -> dict[str, np.ndarray]:
    """Return the inputs and outputs of each call of a network: ``0.input.0``, ``0.output.0`` …"""
    arrays = {}
    for at, inputs in enumerate(network.inputs()):
        outputs = network.layer(*map(paddle.to_tensor, inputs))
        outputs = [one.numpy() for one in (outputs if isinstance(outputs, (list, tuple)) else [outputs])]
        for kind, values in (("input", inputs), ("output", outputs)):
            arrays.update({f"{at}.{kind}.{index}": value for index, value in enumerate(values)})
    return arrays


def make(name: str) -> Network:
    """Return a network with the same weights each time; its states are not those of training."""
    paddle.disable_static()
    paddle.seed(0)
    network = networks()[name]()
    network.layer.eval()
    generator = np.random.default_rng(0)
    for value in network.layer.state_dict().values():
        if "float" in str(value.dtype):
            # Weights that keep the size of numbers through many layers.
            inputs = np.prod(value.shape[1:]) if value.ndim == 4 else value.shape[0]
            limit = (6 / inputs) ** 0.5
            low, high = (0.5, 1.5) if value.ndim == 1 else (-limit, limit)
            value.set_value(generator.uniform(low, high, value.shape).astype(np.float32))
    return network


def save(name: str, path: Path) -> Network:
    """Save a network as PATH.json or PATH.pdmodel, and return it."""
    with paddle.utils.unique_name.guard():
        network = make(name)
        program = paddle.jit.to_static(network.layer, input_spec=network.specs(), full_graph=True)
        paddle.jit.save(program, str(path))
    return network


def remove_origins(path: Path) -> None:
    """Remove where operators come from out of a ``.pdmodel`` file: paths of the machine."""
    program = framework_pb2.ProgramDesc.FromString(path.read_bytes())
    for block in program.blocks:
        for operator in block.ops:
            kept = [attribute for attribute in operator.attrs if attribute.name != "op_callstack"]
            del operator.attrs[:]
            operator.attrs.extend(kept)
    path.write_bytes(program.SerializeToString(deterministic=True))


def main(folder: Path) -> None:
    for name in SMALL:
        network = save(name, folder / name)
        np.savez_compressed(folder / f"{name}.npz", **results(network))
        (folder / f"{name}.pdiparams.info").unlink(missing_ok=True)
        if (program := folder / f"{name}.pdmodel").exists():
            remove_origins(program)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
