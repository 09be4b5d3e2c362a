"""Damage to bytes and numbers that all formats share, and the case: a sample with a list of changes."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

Files = dict[str, bytes]
Mutator = Callable[[Files, Random], None]  # changes the files in place

# Small numbers pass for sizes and indices; the others overflow 32 bits, 64 bits or any memory.
NUMBERS = [-1, 0, 1, 2, 3, 7, 64, 1000]
NUMBERS += [2**31 - 1, 2**31, -(2**31), 2**32 + 1, 2**40, 2**62, 2**63 - 1, -(2**63)]
FRACTIONS = [0.0, -0.0, -1.5, 0.5, 1e-40, 1e38, float("inf"), float("-inf"), float("nan")]
WORDS = ["", "x", "y", "a.b", "\x00", "\x1b[31mred", "two\nlines", "ü" * 60, "1" * 5000, "..", "%s{}", "-1", "1e999"]
NESTING = [2, 10, 60, 200, 1000]


@dataclass(frozen=True)
class Case:
    """The sample ``sample`` of a format's module, changed by mutators; each change is a name and a seed."""

    module: str
    sample: int
    changes: tuple[tuple[str, int], ...]

    def make(self, sample: Files) -> Files:
        """Return the files of the case, from its sample."""
        files = dict(sample)
        mutators = importlib.import_module(self.module).MUTATORS
        for name, seed in self.changes:
            mutators[name](files, Random(seed))
        return files


def draw_case(module: str, sample_count: int, rng: Random) -> Case:
    """Return a random case of one to four changes; one is the most common."""
    names = list(importlib.import_module(module).MUTATORS)
    count = rng.choice([1, 1, 1, 2, 2, 3, 4])
    changes = tuple((rng.choice(names), rng.getrandbits(32)) for _ in range(count))
    return Case(module, rng.randrange(sample_count), changes)


def change_bytes(content: bytes, rng: Random) -> bytes:
    """Return the bytes with a few of them flipped, overwritten, removed, repeated or inserted."""
    altered = bytearray(content)
    place, size = rng.randrange(len(altered) + 1), rng.choice([1, 4, 16, 100])
    kind = rng.choice(["flip", "flip", "word", "word", "cut", "remove", "insert", "splice"])
    if kind == "flip":
        for _ in range(rng.randint(1, 8) if altered else 0):
            altered[rng.randrange(len(altered))] ^= 1 << rng.randrange(8)
    elif kind == "word":
        width = rng.choice([4, 8])
        word = (rng.choice(NUMBERS) % 2 ** (8 * width)).to_bytes(width, "little")
        altered[place // 4 * 4 : place // 4 * 4 + width] = word
    elif kind == "cut":
        del altered[place:]
    elif kind == "remove":
        del altered[place : place + size]
    elif kind == "insert":
        altered[place:place] = rng.randbytes(size)
    else:
        begin = rng.randrange(len(altered) + 1)
        altered[place : place + size] = altered[begin : begin + size]
    return bytes(altered)


def on_file(suffix: str, change: Callable[[bytes, Random], bytes] = change_bytes) -> Mutator:
    """Return a mutator that applies ``change`` to one of the files whose names have this suffix."""

    def mutate(files: Files, rng: Random) -> None:
        names = sorted(name for name in files if name.endswith(suffix))
        if names:
            name = rng.choice(names)
            files[name] = change(files[name], rng)

    return mutate


def number(rng: Random, bits: int = 64, signed: bool = True) -> int:
    """Return one of NUMBERS; those that do not fit into the bits are wrapped around."""
    value = rng.choice(NUMBERS) % 2**bits
    return value - 2**bits if signed and value >= 2 ** (bits - 1) else value
