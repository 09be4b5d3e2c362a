"""TensorflowFrontEnd: the frontend for TensorFlow models."""

from __future__ import annotations

from hetero.frontend.frontend import FrontEnd, ModelSource
from hetero.graph import Model
from hetero.system.errors import FrontendError, HeteroError


class TensorflowFrontEnd(FrontEnd):
    """Frontend for TensorFlow models: frozen graphs (binary or text), SavedModel folders and MetaGraph checkpoints.

    Reads a path, bytes or an open binary file. Files are memory-mapped and weights are not copied: they must not change
    while the model exists.
    """

    name = "tensorflow"

    def supported(self, source: ModelSource) -> bool:
        from hetero.frontend.tensorflow.decoding.reader import is_tensorflow

        return is_tensorflow(source)

    def convert(self, source: ModelSource, weights: ModelSource | None = None) -> Model:
        """Return the model.

        Friendly names are the names of the nodes, tensor names ``node:0`` and ``node``. Inputs and outputs also have
        the names in the signature ``serving_default``. Inputs and outputs are channels-last (NHWC), as in the file;
        between convolutions the layout is NCHW. Variables that the graph changes keep their contents between
        inferences. Raises FrontendError if the file is damaged or has an unsupported operator.
        """
        from hetero.frontend.tensorflow.chosen_outputs import choose_outputs
        from hetero.frontend.tensorflow.control_flow.functional import make_functional
        from hetero.frontend.tensorflow.decoding.reader import read
        from hetero.frontend.tensorflow.graph import build_model
        from hetero.passes import PassManager, sink_transposes

        if weights is not None:
            raise FrontendError("a TensorFlow model contains its weights; read_model accepts no weights for it")
        label, decode = read(source)
        try:
            decoded = decode()
            choose_outputs(decoded, self.chosen_outputs)
            make_functional(decoded)
            self.transform_decoded(decoded)
            model = build_model(decoded, self.extensions, self.report_progress)
            PassManager([sink_transposes]).run(model)
        except (HeteroError, ValueError) as error:
            raise FrontendError(f"{label}: {error}") from error
        return model
