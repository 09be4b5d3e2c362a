"""Registry of the translators of TensorFlow operators."""

from hetero.frontend.translation.translators import TranslatorRegistry

translators = TranslatorRegistry()
# Decorator that registers a translator for operators by name: ``@translator("Relu")``.
translator = translators.register
