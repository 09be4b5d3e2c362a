"""FrontEndManager: the readers of model formats that installed packages bring, and which of them reads a model."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hetero.errors import FrontendError, reason_of
from hetero.frontend import FrontEnd, ModelSource
from hetero.frontend.extension import framework_name
from hetero.messages import get_logger
from hetero.plugin import installed_plugins
from hetero.plugin.package_code import package_code

log = get_logger("hetero.runtime")


class FrontEndManager:
    """Gives frontends by the names of formats or by models, each time a new one without extensions.

    One that cannot be made, or fails over what is not of its format, is left out; the log tells why.
    """

    def __init__(self) -> None:
        # Why frontends could not be made or asked, by their names or modules.
        self.failures: dict[str, str] = {}

    def get_available_front_ends(self) -> list[str]:
        """The names of the formats that can be read."""
        return [frontend.name for frontend in self._made()]

    def load_by_framework(self, framework: str) -> FrontEnd:
        """The frontend of a name such as "onnx". Raises FrontendError where there is none."""
        for frontend in self._made():
            if framework_name(frontend.name) == framework_name(framework):
                return frontend
        raise FrontendError(f"there is no frontend {framework}; {self._told()}")

    def load_by_model(self, model: ModelSource) -> FrontEnd:
        """The first frontend whose format a model is of, by its content. Raises FrontendError where there is none."""
        for frontend in self._made():
            try:
                if frontend.supported(model):
                    return frontend
            except Exception as error:
                self._note(frontend.name, error)
        is_path = isinstance(model, (str, os.PathLike))
        if is_path and not os.path.exists(model):
            raise FrontendError(f"there is no model file {os.fspath(model)}")
        if is_path and not (os.path.isfile(model) or os.path.isdir(model)):
            raise FrontendError(f"the model file {os.fspath(model)} is not a regular file")
        name = os.fspath(model) if is_path else f"the given {type(model).__name__}"
        raise FrontendError(f"{name} is in none of the known formats: {self._told()}")

    def _made(self) -> Iterator[FrontEnd]:
        for factory in installed_plugins().frontends:
            try:
                with package_code(f"making the frontend of {factory.__module__}"):
                    frontend = factory()
            except Exception as error:
                self._note(factory.__module__, error)
            else:
                yield frontend

    def _note(self, name: str, error: Exception) -> None:
        self.failures[name] = reason_of(error)
        log.info("frontend %s: %s", name, self.failures[name])

    def _told(self) -> str:
        """The formats there are, and the frontends that failed."""
        failed = "; ".join(f"{name} ({reason})" for name, reason in self.failures.items())
        return f"there are {', '.join(self.get_available_front_ends())}" + (f"; failed are {failed}" if failed else "")
