"""A module that exists because OpenVINO has ``openvino.package_utils``. Its functions are in hetero.system."""

from hetero.system.package_helpers import classproperty, deprecated, deprecatedclassproperty, get_cmake_path

__all__ = ["classproperty", "deprecated", "deprecatedclassproperty", "get_cmake_path"]
