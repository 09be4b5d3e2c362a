"""PytorchFrontEnd: the frontend for exported PyTorch programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hetero.frontend.extension import conversion_for
from hetero.frontend.frontend import FrontEnd, ModelSource
from hetero.frontend.pytorch.decoded import TorchNode, TorchProgram
from hetero.frontend.pytorch.exported import decode_exported, decomposed, is_exported_program
from hetero.frontend.source import read_source
from hetero.graph import Model
from hetero.system.errors import FrontendError, HeteroError

if TYPE_CHECKING:
    from torch.export import ExportedProgram


class PytorchFrontEnd(FrontEnd):
    """Frontend for exported programs: ``.pt2`` files, which ``torch.export.save`` writes, and those in memory.

    Reads a path, bytes, an open binary file or a torch.export.ExportedProgram.

    The file is memory-mapped and weights are not copied: it must not change while the model exists.
    """

    name = "pytorch"

    def supported(self, source: ModelSource) -> bool:
        from hetero.frontend.pytorch.archive import Archive

        if is_exported_program(source):
            return True
        try:
            data = read_source(source, "PyTorch", keep_position=True).data
            return bytes(data[:2]) == b"PK" and "models/model.json" in Archive(data).names
        except FrontendError:
            return False

    def convert(self, source: ModelSource, weights: ModelSource | None = None) -> Model:
        """Return the model.

        Inputs and outputs have the names that torch gives them; friendly names begin with the path of the module that
        an operation comes from: ``layer1.0.conv1``. Buffers that the program changes are variables. Raises
        FrontendError if the file is damaged or has an unsupported operator.
        """
        from hetero.frontend.pytorch.archive import Archive
        from hetero.frontend.pytorch.decoder import decode_archive

        if weights is not None:
            raise FrontendError("an exported program contains its weights; read_model accepts no weights for it")
        label = "the exported program"
        try:
            if is_exported_program(source):
                return self._convert_exported(source)
            label, data, _ = read_source(source, "PyTorch")
            return self._build(decode_archive(Archive(data)))
        except HeteroError as error:
            raise FrontendError(f"{label}: {error}") from error

    def _convert_exported(self, source: ExportedProgram) -> Model:
        """Return the model of a program in memory, in which torch decomposes what is not supported."""

        from hetero.frontend.pytorch.graph import TorchContext
        from hetero.frontend.pytorch.inlining import GRADIENT_MODE

        context = TorchContext(TorchProgram(None), self.extensions)

        def is_known(op_type: str, overload: str) -> bool:
            node = TorchNode(op_type, op_type, {}, [], overload=overload)
            return op_type == GRADIENT_MODE or context.find(node) is not None

        program = decomposed(source, is_known)
        try:
            return self._build(decode_exported(program))
        except FrontendError:
            # A form of an operator, or a change in place, may be supported only as torch decomposes it.
            core = decomposed(program, lambda op_type, _: conversion_for(self.extensions, op_type, "") is not None)
            if core is program:
                raise
        return self._build(decode_exported(core))

    def _build(self, decoded: TorchProgram) -> Model:
        from hetero.frontend.pytorch.graph import build_model
        from hetero.frontend.pytorch.inlining import inline_gradient_modes

        self.transform_decoded(decoded)
        decoded.graph = inline_gradient_modes(decoded.graph)
        decoded.choose_outputs(self.chosen_outputs)
        return build_model(decoded, self.extensions, self.report_progress)
