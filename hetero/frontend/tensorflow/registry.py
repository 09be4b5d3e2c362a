"""Registry of the translators of TensorFlow operators."""

from hetero.frontend.translation.operator_table import OperatorTable

translators = OperatorTable()
# Decorator that registers a translator for operators by name: ``@translator("Relu")``.
translator, rows = translators.register, translators.register_rows
