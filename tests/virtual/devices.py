"""Devices for AUTO, MULTI and BATCH: the reference device with a rank, a slow compilation and faults."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np

from hetero import Model, Parameter, Type, ops
from hetero.plugin import Rank
from hetero.system.errors import DeviceError
from tests.dispatch.faulty import Faulty

# Seconds; long for a device that works, also on a busy machine.
TIMEOUT = 60


class Backend(Faulty):
    """The reference device; it compiles when ``may_compile`` is set, and fails to compile with ``compile_error``.

    ``shapes`` are the shapes of the inputs that it compiled for.
    """

    def __init__(self, fault="", healthy=1, accepts=lambda node: True, fast=True, compile_error="", **fields) -> None:
        super().__init__(fault, healthy, accepts)
        self._device = replace(self._device, compiles_fast=fast, **fields)
        self.may_compile, self.compile_error = threading.Event(), compile_error
        self.may_compile.set()
        self.shapes: list[str] = []

    def compile(self, prepared):
        assert self.may_compile.wait(TIMEOUT)
        if self.compile_error:
            raise DeviceError(f"{self.name}: {self.compile_error}")
        self.shapes += [str(port.partial_shape) for port in prepared.ports.inputs]
        return super().compile(prepared)


def slow(**options) -> Backend:
    """Return a device of the highest rank that does not compile until ``may_compile`` is set."""
    backend = Backend(fast=False, rank=Rank.ACCELERATOR, **options)
    backend.may_compile.clear()
    return backend


def square(rows: int = 1) -> Model:
    """x → x², [rows, 4]."""
    x = Parameter(Type.f32, [rows, 4], name="x")
    return Model(ops.Multiply(x, x, name="y"), [x], "square")


def arrays(count: int) -> list[np.ndarray]:
    return list(np.random.default_rng(0).standard_normal((count, 1, 4), np.float32))
