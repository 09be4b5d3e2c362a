"""Python imports this module when a child process of a program starts: its imports of openvino are hetero too.

hetero is imported when the process first asks for openvino, as most child processes never do.
"""

import importlib.util
import os
import sys
from importlib.machinery import PathFinder
from typing import Any

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_NAMES = {"openvino", "openvino_genai", "openvino_tokenizers"}


class _FirstImport:
    """A finder that imports hetero, whose finder takes its place, when the process first asks for openvino."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        return self._finder().find_spec(name, path, target) if name in _NAMES else None

    def find_distributions(self, context: Any = None) -> Any:
        name = getattr(context, "name", None)
        return self._finder().find_distributions(context) if name in (None, "openvino") else ()

    def _finder(self) -> Any:
        from hetero.as_openvino.modules import finder

        if self in sys.meta_path:
            sys.meta_path.remove(self)
        return finder


def _run_other_sitecustomize() -> None:
    """Run the module sitecustomize of the environment, which this one hides."""
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _FOLDER]
    spec = PathFinder.find_spec("sitecustomize")
    if spec is not None and spec.loader is not None:
        module = sys.modules["sitecustomize"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


sys.meta_path.insert(0, _FirstImport())
_run_other_sitecustomize()
