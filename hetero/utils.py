"""A module that exists because OpenVINO has ``openvino.utils``. Its functions are in graph, passes and system."""

from hetero.graph.terminals import make_postponed_constant
from hetero.passes.matching.rewriting import replace_node, replace_output_update_name
from hetero.system.package_helpers import classproperty, deprecated, deprecatedclassproperty, get_cmake_path

__all__ = [
    "classproperty", "deprecated", "deprecatedclassproperty", "get_cmake_path", "make_postponed_constant",
    "replace_node", "replace_output_update_name",
]  # fmt: skip
