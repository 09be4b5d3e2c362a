"""The metadata of a package openvino, as programs ask ``importlib.metadata`` for its version and entry points."""

from __future__ import annotations

from importlib.metadata import Distribution
from pathlib import Path

# The version of OpenVINO whose names hetero has.
OPENVINO_VERSION = "2026.4.1"
_FILES = {
    "METADATA": f"""\
Metadata-Version: 2.1
Name: openvino
Version: {OPENVINO_VERSION}
Summary: hetero, which runs programs for OpenVINO
""",
    "entry_points.txt": """\
[console_scripts]
benchmark_app = hetero.run.openvino_tools.benchmark_app:main
ovc = hetero.run.openvino_tools.ovc:main

[torch_dynamo_backends]
openvino = hetero.as_openvino.torch_backend:compile_openvino_graph
""",
    "top_level.txt": "openvino\n",
}


class OpenVinoDistribution(Distribution):
    """The package openvino of a process that runs as openvino."""

    def read_text(self, filename: str) -> str | None:
        return _FILES.get(filename)

    def locate_file(self, path: object) -> Path:
        return Path(str(path))
