"""The modules openvino and openvino.*, whose names are hetero's, and the finder that makes them.

A module looks its names up when they are read, because each caller gets its own (see ``callers``). Names that hetero
lacks raise AttributeError, or ImportError in an import, and are recorded.
"""

from __future__ import annotations

import atexit
import importlib
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from hetero import name_modules
from hetero.as_openvino import callers, real_package
from hetero.as_openvino.distribution import OPENVINO_VERSION, OpenVinoDistribution
from hetero.as_openvino.settings import Settings
from hetero.opset_modules import NEWEST

LIST_OF_NAMES = "docs/openvino_programs.md"
# Packages whose code in C++ takes OpenVINO's own objects.
NATIVE = ("openvino_genai", "openvino_tokenizers")
# The module that stands for the package itself in old programs.
_SAME_AS_PACKAGE = "runtime"
_PACKAGES = ("openvino", "openvino.runtime", "openvino._pyopenvino")
# The modules of openvino that are modules of hetero.
_MODULES = {
    "_offline_transformations", "exceptions", "frontend", "frontend.onnx", "frontend.paddle", "frontend.pytorch",
    "frontend.tensorflow", "helpers", "layout_helpers", "op", "op.util", "package_utils", "passes", "preprocess",
    "properties", "properties.device", "properties.hint", "properties.intel_auto", "properties.intel_cpu",
    "properties.intel_gpu", "properties.intel_gpu.hint", "properties.log", "properties.streams", "torch",
    *name_modules.MODULES,
    *(f"opset{number}" for number in range(1, NEWEST + 1)), *(f"opset{number}.ops" for number in range(1, NEWEST + 1)),
}  # fmt: skip
_MISSING = object()
# The names of openvino that hetero lacks, as the program asked for them.
missing: dict[str, None] = {}


def install() -> None:
    """Make hetero what the following imports of openvino import, in this process and in its child processes.

    Raises ImportError if openvino has been imported already.
    """
    if "openvino" in sys.modules:
        raise ImportError("openvino has been imported already: import hetero.as_openvino before it")
    sys.meta_path.insert(0, finder)
    os.environ.update(finder.settings.environment())
    if finder.settings.lists_missing:
        atexit.register(_list_missing)


class OpenVinoFinder(MetaPathFinder, Loader):
    """Finds openvino and openvino.*, and refuses packages that need OpenVINO's objects in C++."""

    def __init__(self) -> None:
        self.settings = Settings.of_process()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root = name.partition(".")[0]
        if root in NATIVE and _is_installed(name, path):
            return ModuleSpec(name, _Refusal(), is_package=True)
        if root != "openvino":
            return None
        if hetero_name(name) is None and not (callers.wants_real_package() and real_package.has_real_module(name)):
            if callers.is_import():
                raise ImportError(_note_missing(name))
            return None
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return OpenVinoModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ == "openvino":
            from hetero.properties import hint
            from hetero.runtime.core_properties import initial_properties
            from hetero.runtime.host import device_map

            device_map.update(self.settings.devices)
            if self.settings.precision == "fastest":
                initial_properties[hint.execution_mode] = hint.ExecutionMode.PERFORMANCE

    def find_distributions(self, context: Any = None) -> Iterable[OpenVinoDistribution]:
        if getattr(context, "name", None) in (None, "openvino"):
            yield OpenVinoDistribution()


finder = OpenVinoFinder()


class OpenVinoModule(ModuleType):
    """openvino, or a module of it. Programs read hetero's names, plugins those of the real package."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []  # it may have modules, which the finder makes

    def __getattr__(self, name: str) -> Any:
        if callers.wants_real_package():
            return real_package.real_attribute(self.__name__, name)
        if name == "__all__":
            return [public for public in dir(self) if not public.startswith("_")]
        if name in ("__version__", "get_version") and self.__name__ in _PACKAGES:
            return _version() if name == "__version__" else _version
        value = getattr(self._names(), name, _MISSING)
        if value is not _MISSING and not isinstance(value, ModuleType):
            return value
        path = f"{self.__name__}.{name}"
        if path in sys.modules:
            return sys.modules[path]
        if hetero_name(path):
            return importlib.import_module(path)
        if name.startswith("__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        raise AttributeError(_note_missing(path))

    def _names(self) -> ModuleType | None:
        """Return the module of hetero that has the names; None if only the real package has a module of this name."""
        names = hetero_name(self.__name__)
        return importlib.import_module(names) if names else None

    def __dir__(self) -> list[str]:
        names = self._names()
        # Modules of hetero that openvino does not have, such as hetero.ops, are none of its names.
        listed = (name for name in dir(names) if not isinstance(getattr(names, name), ModuleType))
        submodules = (name for name in dir(names) if hetero_name(f"{self.__name__}.{name}"))
        return sorted({*self.__dict__, *listed, *submodules})


def hetero_name(name: str) -> str | None:
    """Return the module of hetero that has the names of a module of openvino; None if there is none."""
    parts = name.split(".")[1:]
    if parts and parts[0] == _SAME_AS_PACKAGE:
        parts = parts[1:]
    path = ".".join(parts)
    return ".".join(["hetero", *parts]) if path in ("", *_MODULES) else None


class _Refusal(Loader):
    """The loader of packages that do not work with hetero: their import fails, with the reason."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        raise ImportError(
            f"{spec.name} takes OpenVINO's own objects in C++, which hetero does not have: run this program without "
            "hetero.as_openvino",
            name=spec.name,
        )

    def exec_module(self, module: ModuleType) -> None:
        """Never called, as no module is created."""


def _is_installed(name: str, path: Sequence[str] | None) -> bool:
    return any(other.find_spec(name, path) for other in sys.meta_path if other is not finder)


def _version() -> str:
    """Return the version of OpenVINO whose names hetero has, in the form of openvino.get_version()."""
    return f"{OPENVINO_VERSION}-0-hetero"


def _note_missing(path: str) -> str:
    missing[path] = None
    return f"hetero has no {path}; {LIST_OF_NAMES} lists the names of OpenVINO that it lacks"


def _list_missing() -> None:
    if missing:
        print(f"names of openvino that hetero lacks: {', '.join(missing)}", file=sys.stderr)
