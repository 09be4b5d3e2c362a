"""Version: name and version of the package of a device."""

from __future__ import annotations

import importlib.metadata
import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Version:
    """A version: three numbers, the whole text as ``build_number``, and the package's name as ``description``."""

    major: int
    minor: int
    patch: int
    build_number: str
    description: str

    @classmethod
    def parse(cls, package: str) -> Version:
        """Parse ``name version``, such as ``hetero 1.2.3``. Missing numbers become 0."""
        name, _, text = package.partition(" ")
        numbers = [int(number) for number in re.split(r"[^\d.]", text)[0].split(".") if number]
        major, minor, patch = [*numbers, 0, 0, 0][:3]
        return cls(major, minor, patch, text, name)

    def __str__(self) -> str:
        return f"{self.description} {self.build_number}"


def get_version() -> str:
    """Return the version of hetero."""
    return importlib.metadata.version("hetero")
