"""Preprocessing of text models: tokens by tables and ragged tensors, packed as the inputs of BERT."""

import numpy as np
import pytest

from hetero import Core

tf = pytest.importorskip("tensorflow")
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "quick", "brown", "fox", "jumps", ",", "."]
TEXTS = np.array(["The quick, brown fox.", "unknown Words", "", "fox fox fox fox fox fox fox fox the the"])
LENGTH = 8


class Preprocessor(tf.Module):
    def __init__(self):
        super().__init__()
        numbers = tf.range(len(WORDS), dtype=tf.int64)
        self.table = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(WORDS, numbers), 2)
        self.fixed = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(WORDS, numbers), 1)

    def tokens(self, text):
        """Return the numbers of the words and punctuation marks of each text, a ragged matrix."""
        spaced = tf.strings.regex_replace(tf.strings.lower(text), r"([,.])", r" \1 ")
        return tf.ragged.map_flat_values(self.fixed.lookup, tf.strings.split(spaced))

    def packed(self, *segments):
        """Return the tokens between [CLS] and [SEP], padded, with the mask and the types of the segments."""
        count = segments[0].nrows()
        start, end = (tf.fill([count, 1], tf.constant(number, tf.int64)) for number in (2, 3))
        parts = [tf.RaggedTensor.from_tensor(start)]
        types = [tf.zeros_like(parts[0])]
        for kind, segment in enumerate(segments):
            segment = tf.concat([segment, end], 1)
            parts.append(segment)
            types.append(tf.ones_like(segment) * kind)
        tokens, types = tf.concat(parts, 1)[:, :LENGTH], tf.concat(types, 1)[:, :LENGTH]
        return {
            "input_mask": tf.ones_like(tokens).to_tensor(shape=[None, LENGTH]),
            "input_type_ids": types.to_tensor(shape=[None, LENGTH]),
            "input_word_ids": tokens.to_tensor(shape=[None, LENGTH]),
        }

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def one(self, text):
        return self.packed(self.tokens(text)[:, : LENGTH - 2])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def pairs(self, text):
        tokens = self.tokens(text)
        return self.packed(tokens[:, :3], tf.reverse(tokens, [1])[:, :2])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def statistics(self, text):
        words = tf.strings.split(text)
        ids = tf.ragged.map_flat_values(self.table.lookup, words)
        lengths = tf.ragged.map_flat_values(tf.strings.length, words)
        return {
            "bag": tf.math.bincount(ids, minlength=16, maxlength=16, axis=-1),
            "joined": tf.strings.reduce_join(words, axis=-1, separator="_"),
            "longest": tf.reduce_max(lengths, axis=1),
            "mean": tf.reduce_mean(tf.cast(ids, tf.float32), axis=1),
            "size": words.row_lengths(),
        }


@pytest.mark.parametrize("method", ["one", "pairs", "statistics"])
def test_agrees(method, tmp_path):
    module = Preprocessor()
    call = getattr(module, method)
    tf.saved_model.save(module, str(tmp_path), signatures={"serving_default": call})
    compiled = Core().compile_model(tmp_path, "TEMPLATE")
    for texts in (TEXTS, TEXTS[:1]):
        expected = call(tf.constant(texts))
        for array, name in zip(compiled([texts]).to_tuple(), sorted(expected), strict=True):
            wanted = expected[name].numpy()
            if wanted.dtype == object:
                assert array.tolist() == [text.decode() for text in wanted]
            else:
                assert array.dtype == wanted.dtype
                np.testing.assert_allclose(array, wanted, rtol=1e-5)
