"""TfliteFrontEnd: reads TensorFlow Lite models."""

from __future__ import annotations

from hetero.errors import FrontendError, HeteroError
from hetero.frontend.frontend import FrontEnd, ModelSource
from hetero.frontend.source import read_source
from hetero.graph import Model

# Where a FlatBuffer says what it is.
_IDENTIFIER = slice(4, 8)


class TfliteFrontEnd(FrontEnd):
    """Reads TensorFlow Lite models (LiteRT's, too) from a path, bytes or an open binary file.

    Weights are used where they are: a file is mapped into memory, not read, and must not change while the model lives.
    """

    name = "tflite"

    def supported(self, source: ModelSource) -> bool:
        try:
            return bytes(read_source(source, "TensorFlow Lite", keep_position=True).data[_IDENTIFIER]) == b"TFL3"
        except FrontendError:
            return False

    def convert(self, source: ModelSource, weights: ModelSource | None = None) -> Model:
        """The model. Friendly names and tensor names are those of the file's tensors; inputs and outputs also have the
        names of the model's signature. What is quantized in the file is so here, inputs and outputs among it. Inputs
        and outputs have their channels last, as in the file; between convolutions they come second.

        ``rt_info`` has ``metadata`` (a dict of bytes) and ``description``. Raises FrontendError.
        """
        from hetero.frontend.tflite.decoder import decode
        from hetero.frontend.tflite.graph import build_model
        from hetero.passes import PassManager, sink_transposes

        if weights is not None:
            raise FrontendError("a TensorFlow Lite model holds its weights itself: read_model takes none for it")
        label, data, _ = read_source(source, "TensorFlow Lite")
        try:
            decoded = decode(data)
            self.transform_decoded(decoded)
            model = build_model(decoded, self.extensions, self.report_progress)
            PassManager([sink_transposes]).run(model)
        except HeteroError as error:
            raise FrontendError(f"{label}: {error}") from error
        return model
