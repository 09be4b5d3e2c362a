"""PaddleFrontEnd: the frontend for PaddlePaddle programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hetero.frontend.frontend import FrontEnd, ModelSource
from hetero.frontend.source import SourceBytes, read_source
from hetero.graph import Model
from hetero.system.errors import FrontendError, HeteroError

if TYPE_CHECKING:
    from hetero.frontend.paddle.decoded import PaddleProgram


class PaddleFrontEnd(FrontEnd):
    """Frontend for ``.pdmodel`` files and for JSON programs, ``inference.json``; a path, bytes or an open binary file.

    The parameters are in the file of the same name that ends with ``.pdiparams``, else in ``__params__`` or in files of
    their own in the same folder. They are memory-mapped and not copied: files must not change while the model exists.
    """

    name = "paddle"

    def supported(self, source: ModelSource) -> bool:
        from hetero.frontend.paddle.pir import is_pir
        from hetero.frontend.paddle.program_desc import is_program_desc

        try:
            data = read_source(source, "PaddlePaddle", keep_position=True).data
        except FrontendError:
            return False
        return is_program_desc(data) or is_pir(data)

    def convert(self, source: ModelSource, weights: ModelSource | None = None) -> Model:
        """Return the model. ``weights``: the file of parameters, if it is not beside the model.

        Inputs and outputs have the names of the program's feed and fetch targets, tensors those of variables. Raises
        FrontendError if a file is damaged or the program has an unsupported operator.
        """
        from hetero.frontend.paddle.graph import build_model
        from hetero.frontend.paddle.pir import decode_pir, is_pir
        from hetero.frontend.paddle.program_desc import decode_program_desc

        read = read_source(source, "PaddlePaddle")
        try:
            program = decode_pir(read.data) if is_pir(read.data) else decode_program_desc(read.data)
            _read_parameters(program, read, weights)
            self.transform_decoded(program)
            program.choose_outputs(self.chosen_outputs)
            return build_model(program, self.extensions, self.report_progress)
        except HeteroError as error:
            raise FrontendError(f"{read.label}: {error}") from error


def _read_parameters(program: PaddleProgram, read: SourceBytes, weights: ModelSource | None) -> None:
    """Set the arrays of the parameters. Raises FrontendError if they are missing or damaged."""
    from hetero.frontend.paddle.parameters import read_combined, read_separate

    variables = program.graph.variables.items()
    names = [name for name, variable in variables if variable.is_persistable and not variable.kind]
    if not names and weights is None:
        return
    if weights is None:
        if read.path is None:
            raise FrontendError(f"it has {len(names)} parameters: give their file as the weights")
        combined = _parameter_file(read.path)
        if combined is None:
            program.parameters = read_separate(read.path.parent, names)
            return
        weights = combined
    label, data, _ = read_source(weights, "PaddlePaddle")
    try:
        program.parameters = read_combined(data, names)
    except FrontendError as error:
        raise FrontendError(f"{label}: {error}") from error


def _parameter_file(path: Path) -> Path | None:
    """Return the file with all parameters beside a model, or None."""
    candidates = [path.with_suffix(".pdiparams"), path.parent / "__params__"]
    return next((candidate for candidate in candidates if candidate.is_file()), None)
