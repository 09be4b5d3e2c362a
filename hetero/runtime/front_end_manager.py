"""FrontEndManager: finds the installed frontends, and the frontend for a model."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hetero.frontend import FrontEnd, ModelSource
from hetero.frontend.extension import framework_name
from hetero.frontend.foreign_files import describe_foreign_file
from hetero.plugin import installed_plugins
from hetero.plugin.loading.package_code import package_code
from hetero.system.errors import FrontendError, ModelTypeError, reason_of
from hetero.system.messages import get_logger

log = get_logger("hetero.runtime")


class FrontEndManager:
    """Creates frontends, by the name of a format or for a model. Each call creates a new one, without extensions.

    A frontend that cannot be created, or that raises while it inspects a model, is skipped and logged.
    """

    def __init__(self) -> None:
        # Reason of each failure, by the name or module of the frontend.
        self.failures: dict[str, str] = {}

    def get_available_front_ends(self) -> list[str]:
        """Return the names of the formats that can be read."""
        return [frontend.get_name() for frontend in self._create_all()]

    def load_by_framework(self, framework: str) -> FrontEnd:
        """Return the frontend of a format such as "onnx". Raises FrontendError if there is none."""
        for frontend in self._create_all():
            if framework_name(frontend.name) == framework_name(framework):
                return frontend
        raise FrontendError(f"there is no frontend {framework}; {self._describe_all()}")

    def load_by_model(self, model: ModelSource) -> FrontEnd:
        """Return the first frontend that recognizes the content of a model. Raises FrontendError if none does."""
        for frontend in self._create_all():
            try:
                if frontend.supported(model):
                    return frontend
            except Exception as error:
                self._add_failure(frontend.name, error)
        name = f"the given {type(model).__name__}"
        if isinstance(model, (str, os.PathLike)):
            name = os.fspath(model)
            if not os.path.exists(name):
                raise FrontendError(f"there is no model file {name}")
            if not (os.path.isfile(name) or os.path.isdir(name)):
                raise FrontendError(f"the model file {name} is not a regular file")
        if description := describe_foreign_file(model):
            raise FrontendError(f"{name} is {description}")
        holds_a_file = isinstance(model, (str, os.PathLike, bytes, bytearray, memoryview)) or hasattr(model, "read")
        error_type = FrontendError if holds_a_file else ModelTypeError
        raise error_type(f"{name} is in none of the known formats: {self._describe_all()}")

    def _create_all(self) -> Iterator[FrontEnd]:
        for factory in installed_plugins().frontends:
            try:
                with package_code(f"creating the frontend of {factory.__module__}"):
                    frontend = factory()
            except Exception as error:
                self._add_failure(factory.__module__, error)
            else:
                yield frontend

    def _add_failure(self, name: str, error: Exception) -> None:
        self.failures[name] = reason_of(error)
        log.info("frontend %s: %s", name, self.failures[name])

    def _describe_all(self) -> str:
        """Return the available formats and the failed frontends, for messages."""
        failed = "; ".join(f"{name} ({reason})" for name, reason in self.failures.items())
        available = ", ".join(self.get_available_front_ends())
        return f"there are {available}; these failed: {failed}" if failed else f"there are {available}"
