"""The registry of translators of ONNX operators.

Domains are named as in ONNX files, for example "com.microsoft"; ONNX's own domain is "".
"""

from __future__ import annotations

from hetero.frontend.translation.operator_table import OperatorTable

translators = OperatorTable()
translator, rows = translators.register, translators.register_rows
