"""Which function translates which TensorFlow Lite operator."""

from hetero.frontend.translation import TranslatorRegistry

translators = TranslatorRegistry()
# Decorator: the function translates operators of these types, as the schema's BuiltinOperator names them.
translator = translators.register
