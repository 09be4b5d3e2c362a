"""FrontEnd: what a reader of a model format is."""

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

# A file's path, its bytes, an open file of it, or an object of the format's own library.
ModelSource = str | os.PathLike | bytes | BinaryIO | Any


class FrontEnd(ABC):
    """A reader of one model format."""

    name: str
    extensions: Sequence[Extension] = ()

    def get_name(self) -> str:
        return self.name

    def add_extension(self, extension: Any) -> None:
        """Use what ``Core.add_extension`` takes in conversions to come, of which formats know different kinds.

        What is meant for other formats is left out. Raises GraphError and FrontendError as Core's method does.
        """
        added = [one for one in as_extensions(extension) if one.is_for(self.name)]
        self.extensions = (*self.extensions, *added)

    @abstractmethod
    def supported(self, source: ModelSource) -> bool:
        """Whether the source is of this format, judged by its content alone (required).

        A damaged file of the format is of the format. False, not an error, for what is not there or cannot be read;
        an open file is left at the place where it was.
        """

    @abstractmethod
    def convert(self, source: ModelSource, weights: ModelSource | None = None) -> Model:
        """The model in the source (required). Raises FrontendError when it cannot be read or translated.

        ``weights``: where they are, for formats that keep them elsewhere.
        """

    def transform_decoded(self, decoded: Any) -> None:
        """Let the extensions change what the format's decoder has read. Raises FrontendError for what they raise."""
        for extension in self.extensions:
            if isinstance(extension, DecoderTransformationExtension):
                try:
                    extension.transform(decoded)
                except Exception as error:
                    raise FrontendError(f"{extension!r}: {type(error).__name__}: {error}") from error

    def report_progress(self, total_steps: int, completed_steps: int) -> None:
        """Tell the extensions that ask for it how far the reading has come."""
        for extension in self.extensions:
            if isinstance(extension, ProgressReporterExtension):
                extension.report_progress(completed_steps / total_steps, total_steps, completed_steps)
