"""Registry of the translators of PyTorch operators."""

from hetero.frontend.translation import Translator, TranslatorRegistry

translators = TranslatorRegistry()
# Decorator that registers a translator for operators by name, ``aten::add``, or for one overload: ``aten::add.Scalar``.
translator = translators.register


def find_translator(op_type: str, overload: str) -> Translator | None:
    """Return the translator of an overload, or of all overloads of an operator; None if there is none."""
    from hetero.frontend.pytorch import translators as registered  # noqa: F401 (fills the registry)

    return translators.find(f"{op_type}.{overload}") or translators.find(op_type)
