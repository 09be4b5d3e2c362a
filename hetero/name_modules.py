"""Modules that exist because OpenVINO has them, as a table: where hetero has the names of each.

``import hetero.utils.types`` finds a module of this table. Its names are looked up when they are read.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_PACKAGE_UTILS = "classproperty deprecated deprecatedclassproperty get_cmake_path"
_GRAPH_UTILS = {
    "hetero.graph.terminals": "make_postponed_constant",
    "hetero.passes.matching.rewriting": "replace_node replace_output_update_name",
}
# Modules of openvino with the modules of hetero that have their names, "*" for all. ``A=B``: name A is B there.
MODULES: dict[str, dict[str, str]] = {
    "utils": {**_GRAPH_UTILS, "hetero.system.package_helpers": _PACKAGE_UTILS},
    "utils.data_helpers": {"hetero": "tensor_from_file", "hetero.runtime.infer_request": "OVDict=Results"},
    "utils.data_helpers.wrappers": {"hetero": "tensor_from_file", "hetero.runtime.infer_request": "OVDict=Results"},
    "utils.decorators": {"hetero.ops.factories.decorators": "*"},
    "utils.input_validation": {"hetero.ops.factories.attribute_checks": "*"},
    "utils.node_factory": {"hetero.ops.factories.node_factory": "*"},
    "utils.types": {"hetero.ops.factories.arguments": "*"},
    "tools": {},
    "tools.benchmark": {},
    "tools.benchmark.main": {"hetero.run.openvino_tools.benchmark_app": "main"},
    "tools.ovc": {"hetero": "convert_model"},
    "tools.ovc.cli_parser": {"hetero.run.openvino_tools.ovc": "get_all_cli_parser get_common_cli_parser"},
    "tools.ovc.convert": {"hetero": "convert_model"},
    "tools.ovc.main": {"hetero.run.openvino_tools.ovc": "main"},
    "frontend.pytorch.module_extension": {"hetero.frontend.pytorch.traced_module": "ModuleExtension"},
    "frontend.pytorch.patch_model": {
        "hetero.frontend.pytorch.traced_module": "__make_16bit_traceable=make_16bit_traceable unpatch_model",
    },
    "frontend.pytorch.ts_decoder": {"hetero.frontend.pytorch.traced_module": "TorchScriptPythonDecoder"},
    "frontend.tensorflow.utils": {"hetero.runtime.convert": "type_supported_by_tf_fe=is_tensorflow_model"},
    # The names of OpenVINO's code in C++.
    "_pyopenvino": {
        "hetero": "*", "hetero.frontend": "FrontEnd InputModel Place ConversionExtension NodeContext",
        "hetero.graph": "DescriptorTensor=Output", "hetero.ops.factories.node_factory": "NodeFactory",
    },
    "_pyopenvino.op": {"hetero.op": "*", "hetero.opset17": "*"},
    "_pyopenvino.util": {**_GRAPH_UTILS, "hetero.system.package_helpers": _PACKAGE_UTILS},
    **{
        f"_pyopenvino.{name}": {f"hetero.{name}": "*"}
        for name in (
            "_offline_transformations", "frontend", "layout_helpers", "op.util", "passes", "preprocess", "properties",
            "properties.device", "properties.hint", "properties.intel_auto", "properties.intel_cpu",
            "properties.intel_gpu", "properties.intel_gpu.hint", "properties.log", "properties.streams",
        )
    },
}  # fmt: skip


class NameModule(ModuleType):
    """A module of the table."""

    def __init__(self, path: str) -> None:
        super().__init__(f"hetero.{path}", f"A module that exists because OpenVINO has ``openvino.{path}``.")
        self._sources = {
            (name.partition("=")[0], source): name.rpartition("=")[2]
            for source, names in MODULES[path].items()
            for name in names.split()
        }

    def __getattr__(self, name: str) -> Any:
        for (public, source), own in self._sources.items():
            if public == name or (public == "*" and not name.startswith("__")):
                try:
                    return getattr(import_module(source), name if own == "*" else own)
                except AttributeError:
                    continue
        if (submodule := sys.modules.get(f"{self.__name__}.{name}")) is not None:
            return submodule
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        listed = {public for public, _ in self._sources if public != "*"}
        others = (dir(import_module(source)) for public, source in self._sources if public == "*")
        return sorted(listed.union(name for names in others for name in names if not name.startswith("__")))


def make_modules() -> dict[str, NameModule]:
    """Add the modules to sys.modules, so that ``import hetero.utils.types`` works. Return those in hetero itself."""
    made = {path: NameModule(path) for path in MODULES}
    sys.modules.update({module.__name__: module for module in made.values()})
    return {path: module for path, module in made.items() if "." not in path}
