"""FrontEnd: what a reader of a model format is."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, BinaryIO

from hetero.frontend.extension import Extension
from hetero.graph import Model

# A file's path, its bytes, an open file of it, or an object of the format's own library.
ModelSource = str | os.PathLike | bytes | BinaryIO | Any


class FrontEnd(ABC):
    """A reader of one model format."""

    name: str
    extensions: Sequence[Extension] = ()

    def add_extension(self, extension: Extension) -> None:
        """Use an extension in conversions to come (optional): a format uses those of kinds that it knows."""
        self.extensions = (*self.extensions, extension)

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
