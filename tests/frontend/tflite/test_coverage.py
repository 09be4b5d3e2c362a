"""Which of the schema's operators are read, and why the others are not."""

import tflite

from hetero.frontend.tflite.decoder import names_of
from hetero.frontend.tflite.graph import ModelContext  # noqa: F401 (fills the registry)
from hetero.frontend.tflite.registry import translators

REFUSED = {
    "CUSTOM": "its name is that of the custom operator, for which extensions are",
    "DELEGATE": "stands for a part of a model that was compiled for one device",
    "CONCAT_EMBEDDINGS": "no runtime has ever had a kernel of it, so nobody knows how it lays out its result",
    "PLACEHOLDER_FOR_GREATER_OP_CODES": "stands for the operators from 127 on in old files",
}


def test_all_operators_are_read_but_these():
    missing = {name for name in names_of(tflite.BuiltinOperator).values() if translators.find(name, 99) is None}
    assert missing == REFUSED.keys()
