"""Which function translates which TensorFlow Lite operator."""

from hetero.frontend.translators import Translators

translators = Translators()
# Decorator: the function translates operators of these types, as the schema's BuiltinOperator names them.
translator = translators.register
