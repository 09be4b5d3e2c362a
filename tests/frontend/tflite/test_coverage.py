"""Every operator of the schema has a translator, except those listed here with a reason."""

import tflite

import hetero.frontend.tflite.translators  # noqa: F401 (fills the registry)
from hetero.frontend.tflite.decoder import names_of
from hetero.frontend.tflite.node_context import translators

REFUSED = {
    "CUSTOM": "a custom operator is found by its own name, and needs an extension",
    "DELEGATE": "stands for a part of a model that was compiled for one device",
    "CONCAT_EMBEDDINGS": "no runtime has a kernel for it, so the layout of its result is unknown",
    "PLACEHOLDER_FOR_GREATER_OP_CODES": "stands for the operators from 127 on in old files",
}


def test_all_operators_are_read_but_these():
    missing = {name for name in names_of(tflite.BuiltinOperator).values() if translators.find(name, 99) is None}
    assert missing == REFUSED.keys()
