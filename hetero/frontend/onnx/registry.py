"""Which function translates which ONNX operator, from which operator set of its domain on.

Domains are named as in ONNX files, such as "com.microsoft"; ONNX's own is "".
"""

from hetero.frontend.translation import Translation
from hetero.frontend.translators import Translator, Translators

__all__ = ["Translation", "Translator", "find_translator", "translator", "translators"]

translators = Translators()
translator = translators.register
find_translator = translators.find
