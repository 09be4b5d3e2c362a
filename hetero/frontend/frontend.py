"""FrontEnd, the base class of the readers of model formats."""

from __future__ import annotations

import copy
import functools
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

from hetero.frontend.extension import Extension
from hetero.frontend.extension_loader import as_extensions
from hetero.frontend.input_model import InputModel
from hetero.frontend.model_outputs import with_outputs
from hetero.frontend.reading_extensions import DecoderTransformationExtension, ProgressReporterExtension
from hetero.graph import Model
from hetero.system.errors import FrontendError

# The path of a file, its bytes, an open binary file, or an object of the format's own library.
ModelSource = str | os.PathLike[str] | bytes | BinaryIO | Any


class FrontEnd(ABC):
    """A reader of one model format."""

    # The names of the outputs that the caller chose, for ``convert``: what they do not need may be left out. Names that
    # only the translated model has may be among them; ``convert_outputs`` finds all of them there.
    name: str
    extensions: Sequence[Extension] = ()
    chosen_outputs: Sequence[str] = ()

    def __init_subclass__(cls, **arguments: Any) -> None:
        # So that authors of frontends need not know of models that are loaded already.
        super().__init_subclass__(**arguments)
        if "convert" in cls.__dict__:
            cls.convert = _taking_loaded_models(cls.__dict__["convert"])  # type: ignore[method-assign]

    def get_name(self) -> str:
        """Return the name of the format, as OpenVINO spells it."""
        return "tf" if self.name == "tensorflow" else self.name

    def __repr__(self) -> str:
        return f"<FrontEnd '{self.get_name()}'>"

    def add_extension(self, extension: Any) -> None:
        """Add an extension, in any form that ``Core.add_extension`` accepts, for later conversions.

        Extensions for other formats are ignored. Raises GraphError and FrontendError like ``Core.add_extension``.
        """
        added = [item for item in as_extensions(extension) if item.is_for(self.name)]
        self.extensions = (*self.extensions, *added)

    @abstractmethod
    def supported(self, model: ModelSource) -> bool:
        """Return whether a source is of this format, judged by its content alone (required).

        True also for a damaged file of the format. Returns False, without an error, for a source that is missing or
        cannot be read. The position of an open file stays the same.
        """

    @abstractmethod
    def convert(self, model: ModelSource, weights: ModelSource | None = None) -> Model:
        """Read a source and return its model (required). Raises FrontendError if it cannot be read or translated.

        ``weights``: the source of the weights, for formats that keep them in a separate file.
        """

    def convert_outputs(self, model: ModelSource, names: Sequence[str]) -> Model:
        """Return the model with the tensors, or results of operations, of these names as outputs, in this order.

        A source is translated as far as they need it, if all are in the file. Raises the errors of ``convert``, and
        FrontendError if the model has no tensor of a name.
        """
        pruning = copy.copy(self)
        pruning.chosen_outputs = names
        return with_outputs(pruning.convert(model), names)

    def load(self, path: ModelSource, enable_mmap: bool = True) -> InputModel:
        """Read a model, which can be changed before ``convert`` returns it.

        ``enable_mmap`` is a hint without effect, as files are always mapped. A model that cannot be translated as a
        whole can be once ``InputModel.override_all_outputs`` chose outputs.
        """
        return InputModel(lambda: self.convert(path), lambda names: self.convert_outputs(path, names))

    def convert_partially(self, model: ModelSource) -> Model:
        """Return the model as ``convert`` does, which leaves no operations untranslated."""
        return self.convert(model)

    def decode(self, model: ModelSource) -> Model:
        """Return the model as ``convert`` does, as files are decoded and translated in one step."""
        return self.convert(model)

    def normalize(self, model: Model) -> None:  # noqa: B027  # subclasses need not override it
        """Leave a model of ``decode`` as it is, because it is translated."""

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


def _taking_loaded_models(convert: Callable[..., Model]) -> Callable[..., Model]:
    """Return a ``convert`` that returns models that were loaded or converted before as they are."""

    @functools.wraps(convert)
    def convert_any(self: FrontEnd, model: Any, *arguments: Any, **keywords: Any) -> Model:
        if isinstance(model, InputModel):
            return model.model
        return model if isinstance(model, Model) else convert(self, model, *arguments, **keywords)

    return convert_any
