"""Registry of the translators of TensorFlow Lite operators."""

from hetero.frontend.translation.operator_table import OperatorTable

translators = OperatorTable()
# Decorator that registers a translator for operator types, by their names in the schema's BuiltinOperator.
translator, rows = translators.register, translators.register_rows
