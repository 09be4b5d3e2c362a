"""Version: which version of which package a device comes from."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Version:
    """The version of a package: its three numbers, all of it in words as ``build_number``, and the package's name."""

    major: int
    minor: int
    patch: int
    build_number: str
    description: str

    @classmethod
    def parse(cls, package: str) -> Version:
        """The version in ``name version``, as in ``hetero 1.2.3``; zeros where numbers are missing."""
        name, _, text = package.partition(" ")
        numbers = [int(number) for number in re.match(r"[\d.]*", text).group().split(".") if number]
        return cls(*(*numbers, 0, 0, 0)[:3], text, name)

    def __str__(self) -> str:
        return f"{self.description} {self.build_number}"
