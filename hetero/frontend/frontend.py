"""FrontEnd, the base class of the readers of model formats."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, BinaryIO

from hetero.errors import FrontendError
from hetero.frontend.extension import Extension
from hetero.frontend.extension_loader import as_extensions
from hetero.frontend.reading_extensions import DecoderTransformationExtension, ProgressReporterExtension
from hetero.graph import Model

# The path of a file, its bytes, an open binary file, or an object of the format's own library.
ModelSource = str | os.PathLike | bytes | BinaryIO | Any


class FrontEnd(ABC):
    """A reader of one model format."""

    name: str
    extensions: Sequence[Extension] = ()

    def get_name(self) -> str:
        return self.name

    def add_extension(self, extension: Any) -> None:
        """Add an extension, in any form that ``Core.add_extension`` accepts, for later conversions.

        Extensions for other formats are ignored. Raises GraphError and FrontendError like ``Core.add_extension``.
        """
        added = [item for item in as_extensions(extension) if item.is_for(self.name)]
        self.extensions = (*self.extensions, *added)

    @abstractmethod
    def supported(self, source: ModelSource) -> bool:
        """Return whether the source is of this format, judged by its content alone (required).

        True also for a damaged file of the format. Returns False, without an error, for a source that is missing or
        cannot be read. The position of an open file stays the same.
        """

    @abstractmethod
    def convert(self, source: ModelSource, weights: ModelSource | None = None) -> Model:
        """Read the source and return its model (required). Raises FrontendError if it cannot be read or translated.

        ``weights``: the source of the weights, for formats that keep them in a separate file.
        """

    def transform_decoded(self, decoded: Any) -> None:
        """Apply the DecoderTransformationExtensions to a decoded model. Raises FrontendError for any error in them."""
        for extension in self.extensions:
            if isinstance(extension, DecoderTransformationExtension):
                try:
                    extension.transform(decoded)
                except Exception as error:
                    raise FrontendError(f"{extension!r}: {type(error).__name__}: {error}") from error

    def report_progress(self, total_steps: int, completed_steps: int) -> None:
        """Report the number of converted nodes to the ProgressReporterExtensions."""
        for extension in self.extensions:
            if isinstance(extension, ProgressReporterExtension):
                extension.report_progress(completed_steps / total_steps, total_steps, completed_steps)
