"""Registry of the translators of TensorFlow Lite operators."""

from hetero.frontend.translation.translators import TranslatorRegistry

translators = TranslatorRegistry()
# Decorator that registers a translator for operator types, by their names in the schema's BuiltinOperator.
translator = translators.register
