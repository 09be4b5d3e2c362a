"""Extensions for ONNX models only, with the same arguments as in OpenVINO, including the operator's domain."""

from __future__ import annotations

from typing import Any

from hetero.frontend.extension import ConversionExtension, Converter
from hetero.frontend.op_extension import OpExtension


class OnnxConversionExtension(ConversionExtension):
    """``ConversionExtension(op_type, converter)`` or ``ConversionExtension(op_type, domain, converter)``."""

    def __init__(self, op_type: str, domain: Any, converter: Converter | None = None) -> None:
        if converter is None:
            super().__init__(op_type, domain, framework="onnx")
        else:
            super().__init__(op_type, converter, domain, "onnx")


class OnnxOpExtension(OpExtension):
    """The OpExtension for all formats, with the operator's domain as third name or as ``fw_domain``::

    OpExtension(ov_type_name, fw_type_name, fw_domain, attr_names_map, attr_values_map)
    """

    def __init__(self, *arguments: Any, fw_domain: str | None = None, **keywords: Any) -> None:
        if len(arguments) > 2 and isinstance(arguments[2], str):
            fw_domain, arguments = arguments[2], arguments[:2] + arguments[3:]
        super().__init__(*arguments, domain=fw_domain, framework="onnx", **keywords)
