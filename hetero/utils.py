"""Helpers for programs that change models, like ``openvino.utils``."""

from hetero.package_utils import classproperty, deprecated, deprecatedclassproperty
from hetero.passes.replacement import replace_node, replace_output_update_name

__all__ = ["classproperty", "deprecated", "deprecatedclassproperty", "replace_node", "replace_output_update_name"]
