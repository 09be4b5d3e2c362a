"""Failover: going on without a device that fails during an inference.

An inference that fails on a device runs again without that device, on what the other devices make of the model. Only if
that succeeds is the device dropped, for all requests. So if the inference itself is to blame, it fails everywhere, no
device is dropped and the user gets the first error.

A device fails by raising any error, by outputs that do not fit the model or are not written, and, if DEVICE_TIMEOUT is
set, by exceeding it. A user's tensor that does not fit is no failure, nor is a cancellation. Operations that the user
pinned to a dropped device run elsewhere too.

There is no failover with RUNTIME_FALLBACK=NO; for imported models, of which there is only what each device compiled
(those from the model cache are compiled anew); and for models that assign variables, unless VARIABLE_SNAPSHOTS=YES or
DEVICE_TIMEOUT makes each request keep a copy of its variables on the host after each inference. Without that copy the
variables would be lost with the device, so the user gets the error of the device instead.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping

from hetero import properties as props
from hetero.dispatch.cutting.deployment import Deployer, Deployment
from hetero.dispatch.cutting.plan import Plan, StepError
from hetero.properties import Property
from hetero.system.errors import DeviceError, HeteroError
from hetero.system.fork import renew_after_fork

runtime_fallback = Property("RUNTIME_FALLBACK", props.boolean, True)
# Milliseconds that a device may take for a query, a compilation or an inference of a subgraph; 0 for no limit.
device_timeout = Property("DEVICE_TIMEOUT", props.count, 0)
# Whether requests copy variables to the host after each inference, so that models with variables can fail over.
variable_snapshots = Property("VARIABLE_SNAPSHOTS", props.boolean, False)

Errors = Mapping[str, Exception]
# Called with the new deployment and the errors of the devices that were dropped.
OnDrop = Callable[[Deployment, Errors], None]


class Fallback:
    """The deployments of a compiled model without devices that failed. Thread-safe.

    ``make_deployer`` is called when a device fails for the first time; if it is None there is no failover.
    """

    def __init__(self, make_deployer: Callable[[], Deployer] | None) -> None:
        self._deployer = make_deployer and functools.cache(make_deployer)
        self._dropped: dict[str, Exception] = {}
        # By the names of the devices that are left out; None if the other devices cannot run the model.
        self._deployments: dict[frozenset[str], Deployment | None] = {}
        self._renew()
        renew_after_fork(self, Fallback._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    @property
    def is_possible(self) -> bool:
        return self._deployer is not None

    def is_dropped(self, device: str) -> bool:
        return device in self._dropped

    def plan_without(self, errors: Errors) -> Plan | None:
        """Return a plan without these devices and without those dropped before; None if the others cannot run it.

        The model is compiled once for all requests that ask.
        """
        with self._lock:
            deployment = self._without(errors)
            return deployment.plan if deployment else None

    def drop(self, errors: Errors, on_drop: OnDrop) -> None:
        """Drop devices for good, and call ``on_drop`` with those that were not dropped before, under the lock."""
        with self._lock:
            new = {device: error for device, error in errors.items() if device not in self._dropped}
            deployment = self._without(errors) if new else None
            if deployment is None or self._deployer is None:
                return  # another request was first, perhaps with another device that is needed then
            self._dropped |= {device: DeviceError(str(error)) for device, error in new.items()}  # without the traceback
            self._deployments = {frozenset(self._dropped): deployment}
            self._deployer().release_unused(deployment)
            on_drop(deployment, new)

    def forget(self, errors: Errors) -> None:
        """Forget a deployment that did not help either: another time it may be needed for another reason."""
        with self._lock:
            left_out = frozenset(self._dropped.keys() | errors.keys())
            if left_out != self._dropped.keys() and self._deployments.get(left_out) is not None:
                del self._deployments[left_out]

    def _without(self, errors: Errors) -> Deployment | None:
        if self._deployer is None:
            return None
        failed = self._dropped | {device: error for device, error in errors.items() if device not in self._dropped}
        left_out = frozenset(failed)
        if left_out not in self._deployments:
            try:
                self._deployments[left_out] = self._deployer().deploy_without(failed)
            except HeteroError:
                self._deployments[left_out] = None
        return self._deployments[left_out]


class Failover:
    """The devices that failed so far in the current inference of one request."""

    def __init__(self, fallback: Fallback, on_drop: OnDrop) -> None:
        self._fallback, self._on_drop = fallback, on_drop
        self._errors: dict[str, Exception] = {}

    def begin(self) -> None:
        """Begin an inference, or the creation of a request, in which no device has failed yet."""
        self._errors = {}

    def plan_without(self, failure: StepError) -> Plan:
        """Return a plan without the device that failed now and those that failed before in this inference.

        Raises the error for the user if there is no such plan.
        """
        self._errors.setdefault(failure.device, failure.error)
        plan = self._fallback.plan_without(self._errors)
        if plan is None:
            raise self._first_error(failure)
        return plan

    def commit(self) -> None:
        """Drop the devices that failed, as the inference succeeded without them."""
        if self._errors:
            self._fallback.drop(self._errors, self._on_drop)
            self._errors = {}

    def _first_error(self, last: StepError) -> Exception:
        """Return the first error of a device that stays in use, else the last error."""
        self._fallback.forget(self._errors)
        staying = (error for device, error in self._errors.items() if not self._fallback.is_dropped(device))
        return next(staying, last.error)
