"""TfliteFrontEnd: the frontend for TensorFlow Lite models."""

from __future__ import annotations

from hetero.frontend.frontend import FrontEnd, ModelSource
from hetero.frontend.source import read_source
from hetero.graph import Model
from hetero.system.errors import FrontendError, HeteroError

# The bytes of a FlatBuffer's file identifier.
_IDENTIFIER = slice(4, 8)


class TfliteFrontEnd(FrontEnd):
    """Frontend for TensorFlow Lite (LiteRT) models. Reads a path, bytes or an open binary file.

    The file is memory-mapped and weights are not copied: it must not change while the model exists.
    """

    name = "tflite"

    def supported(self, source: ModelSource) -> bool:
        try:
            return bytes(read_source(source, "TensorFlow Lite", keep_position=True).data[_IDENTIFIER]) == b"TFL3"
        except FrontendError:
            return False

    def convert(self, source: ModelSource, weights: ModelSource | None = None) -> Model:
        """Return the model.

        Friendly names and tensor names are the names of the file's tensors; inputs and outputs also get the names in
        the model's signature. Quantized inputs and outputs stay quantized. Inputs and outputs are channels-last
        (NHWC), as in the file; between convolutions the layout is NCHW. ``rt_info`` has ``metadata`` (a dict of bytes)
        and ``description``. Raises FrontendError if the file is damaged or has an unsupported operator.
        """
        from hetero.frontend.tflite.decoder import decode
        from hetero.frontend.tflite.graph import build_model
        from hetero.passes import PassManager, sink_transposes

        if weights is not None:
            raise FrontendError("a TensorFlow Lite model contains its weights; read_model accepts no weights for it")
        label, data, _ = read_source(source, "TensorFlow Lite")
        try:
            decoded = decode(data)
            self.transform_decoded(decoded)
            decoded.choose_outputs(self.chosen_outputs)
            model = build_model(decoded, self.extensions, self.report_progress)
            PassManager([sink_transposes]).run(model)
        except HeteroError as error:
            raise FrontendError(f"{label}: {error}") from error
        return model
