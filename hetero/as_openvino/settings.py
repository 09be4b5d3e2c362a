"""The settings: given on the command line, and inherited by child processes in environment variables."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

# Set in programs that run as openvino; the value is the settings in JSON.
VARIABLE = "HETERO_AS_OPENVINO"
# Python imports sitecustomize from here in child processes.
STARTUP = str(Path(__file__).with_name("startup"))


@dataclass(frozen=True)
class Settings:
    """``devices``: the device to use for each name of the program; the key "" is for all other names.

    ``precision``: "fastest" as in OpenVINO, where devices compute f32 models in bf16 or f16 if it is faster; or "f32".
    ``lists_missing``: whether to print, at the end of each process, which names of openvino it missed.
    """

    devices: dict[str, str] = field(default_factory=dict)
    precision: str = "fastest"
    lists_missing: bool = False

    @classmethod
    def of_process(cls) -> Settings:
        """Return the settings that this process inherited, or those without options."""
        return cls(**json.loads(os.environ.get(VARIABLE, "{}")))

    def environment(self) -> dict[str, str]:
        """Return the environment variables with which Python runs programs with these settings."""
        paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", STARTUP)]
        return {VARIABLE: json.dumps(asdict(self)), "PYTHONPATH": os.pathsep.join([STARTUP, *paths])}
