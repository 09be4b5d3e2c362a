"""Candidates: the devices that may run a model, and what they compiled."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from hetero import properties as props
from hetero.dispatch.devices import ListedDevice, checked
from hetero.graph import Model
from hetero.plugin import Plugin
from hetero.properties import PropertyTable
from hetero.system.errors import DeviceError, PropertyError, UnsupportedOperationError, device_errors
from hetero.system.fork import renew_after_fork
from hetero.virtual.pool import Worker


class Candidates:
    """Compiles a model for one device after the other, each at most once. Thread-safe.

    ``user`` is the virtual device and ``table`` its properties; ``limits`` are the numbers of requests that the user
    gave for devices. If CACHE_DIR is set, it applies to all devices, as the model cache is not a matter of the device.
    """

    def __init__(
        self,
        user: Plugin,
        model: Model,
        table: PropertyTable,
        devices: Sequence[ListedDevice],
        limits: Mapping[str, int],
    ) -> None:
        self.devices = list(devices)
        self._user, self._model, self._limits = user, model, limits
        self._cache = {key: value for key, value in table.explicit().items() if key == props.cache_dir}
        self._outcomes: dict[str, Worker | Exception] = {}
        self._renew()
        renew_after_fork(self, Candidates._renew)

    def _renew(self) -> None:
        self._locks = {device.name: threading.Lock() for device in self.devices}

    def compile(self, device: ListedDevice) -> Worker:
        """Return the worker of a device. Raise the error of its compilation."""
        with self._locks[device.name]:
            if device.name not in self._outcomes:
                self._outcomes[device.name] = self._outcome(device)
            outcome = self._outcomes[device.name]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _outcome(self, device: ListedDevice) -> Worker | Exception:
        problem = f"{device.name} failed to compile '{self._model.friendly_name}'"
        try:
            with device_errors(problem):
                compiled = self._user.host.compile_on(device.name, self._model, {**device.options, **self._cache})
                return Worker(device.name, checked(compiled, problem), self._limits.get(device.name))
        except Exception as error:
            return error

    def release(self, worker: Worker) -> None:
        """Forget what a device compiled, so that it compiles again if it is needed."""
        self._outcomes.pop(worker.name, None)

    def exclude(self, worker: Worker, error: Exception) -> None:
        """Never use a device again, which failed in an inference."""
        self._outcomes[worker.name] = DeviceError(str(error))  # without the traceback, which refers to tensors

    def all(self) -> list[Worker]:
        """Compile for all devices in parallel. Return the workers of those that succeed; raises as ``first`` does."""
        with ThreadPoolExecutor(len(self.devices), "hetero compile") as threads:
            context = contextvars.copy_context
            futures = [threads.submit(context().run, self.compile, device) for device in self.devices]
        errors = [error for future in futures if (error := future.exception()) is not None]
        for error in errors:
            if isinstance(error, PropertyError) or not isinstance(error, Exception):
                raise error
        failures = [error for error in errors if isinstance(error, Exception)]
        workers = [future.result() for future in futures if future.exception() is None]
        if not workers:
            raise self.failure(failures)
        self.report(failures, " and ".join(worker.name for worker in workers))
        return workers

    def expected_limit(self) -> int:
        """Return the number of requests at once that is optimal on the first device, before it has compiled."""
        device = self.devices[0]
        table = device.plugin.property_table(device.options)
        return self._limits.get(device.name) or table.value_of(props.optimal_number_of_infer_requests)

    def first(self, excluded: Collection[str] = ()) -> Worker:
        """Return the worker of the first device that compiles the model. Failures are logged.

        Raises the error of a single device, else UnsupportedOperationError or DeviceError with the reasons of all; and
        PropertyError, for which no device is to blame.
        """
        errors: list[Exception] = []
        for device in self.devices:
            if device.name in excluded:
                continue
            try:
                worker = self.compile(device)
            except PropertyError:
                raise
            except Exception as error:
                errors.append(error)
                continue
            self.report(errors, worker.name)
            return worker
        raise self.failure(errors)

    def report(self, errors: Sequence[Exception], instead: str) -> None:
        """Log once that devices could not compile the model: at level INFO if they do not support all of it.

        Nothing is logged when the program ends, as that may be why a compilation in the background failed.
        """
        failed = [str(error) for error in errors if not isinstance(error, UnsupportedOperationError)]
        if failed and threading.main_thread().is_alive():
            self._user.log.warning("%s: %s; %s takes over", self._model.friendly_name, "; ".join(failed), instead)
        elif errors:
            reasons = "; ".join(map(str, errors))
            self._user.log.info("%s: %s; %s takes over", self._model.friendly_name, reasons, instead)

    def failure(self, errors: Sequence[Exception]) -> Exception:
        """Return the error for the user if no device could compile the model."""
        if len(errors) == 1:
            return errors[0]
        if not errors:
            return DeviceError(f"{self._user.name} has no other device for '{self._model.friendly_name}'")
        all_refuse = all(isinstance(error, UnsupportedOperationError) for error in errors)
        kind = UnsupportedOperationError if all_refuse else DeviceError
        return kind(f"{self._user.name} has no device for '{self._model.friendly_name}': {'; '.join(map(str, errors))}")
