"""Extensions with the arguments that OpenVINO's for ONNX have, the domain among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hetero.frontend import extension
from hetero.frontend.extension import Converter
from hetero.graph import Op


class ConversionExtension(extension.ConversionExtension):
    """``ConversionExtension(op_type, converter)`` or ``ConversionExtension(op_type, domain, converter)``."""

    def __init__(self, op_type: str, domain: str | Converter, converter: Converter | None = None) -> None:
        if converter is None:
            super().__init__(op_type, domain)
        else:
            super().__init__(op_type, converter, domain)


class OpExtension(extension.OpExtension):
    """``OpExtension(operation, fw_type_name, fw_domain, attr_names_map, attr_values_map)``; the first is required."""

    def __init__(
        self,
        operation: str | type[Op],
        fw_type_name: str | None = None,
        fw_domain: str | None = None,
        attr_names_map: Mapping[str, str] | None = None,
        attr_values_map: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(operation, fw_type_name, attr_names_map, attr_values_map, fw_domain)
