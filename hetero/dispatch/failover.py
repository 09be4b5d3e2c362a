"""Going on without devices that fail during inferences.

An inference that fails on a device is run again without it, on what the others make of the model; only when that goes
well is the device dropped, for all requests. So a device stays in place where the inference itself is to blame: then it
fails everywhere, and the user is told the first error. A device fails by raising anything, by outputs that do not fit
the model or are not written, and where DEVICE_TIMEOUT is set by taking longer than that; it is not to blame for a
tensor of the user's that does not fit, or for being cancelled. RUNTIME_FALLBACK=NO turns this off. An imported model,
of which there is only what each device compiled, cannot do it; one from the model cache is compiled anew for that.
Operations that the user pinned to a device that is dropped go elsewhere too.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from hetero import properties as props
from hetero.dispatch.deployment import Deployer, Deployment
from hetero.dispatch.plan import StepError
from hetero.errors import CancelledError, DeviceError, TensorError
from hetero.fork import renew_after_fork
from hetero.properties import Property

if TYPE_CHECKING:
    from hetero.dispatch.infer_request import HeteroInferRequest

runtime_fallback = Property("RUNTIME_FALLBACK", props.boolean, True)
# Milliseconds that a device may take for a subgraph; 0 is any time.
device_timeout = Property("DEVICE_TIMEOUT", props.count, 0)

Errors = Mapping[str, Exception]


class Fallback:
    """What a compiled model runs on without the devices that failed: nothing, if ``make_deployer`` is None.

    ``make_deployer`` is called when a device fails for the first time.
    """

    def __init__(self, make_deployer: Callable[[], Deployer] | None) -> None:
        self._make_deployer = make_deployer
        self._dropped: dict[str, Exception] = {}
        # By the names of the devices that are left out; None where the others cannot run it.
        self._deployments: dict[frozenset[str], Deployment | None] = {}
        self._renew()
        renew_after_fork(self, Fallback._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    @property
    def is_possible(self) -> bool:
        return self._make_deployer is not None

    @functools.cached_property
    def _deployer(self) -> Deployer:
        return self._make_deployer()

    def is_dropped(self, device: str) -> bool:
        return device in self._dropped

    def without(self, errors: Errors) -> Deployment | None:
        """The model without devices, by what they raised, and without those dropped before; None if that cannot be.

        It is compiled once, however many requests ask for it.
        """
        with self._lock:
            return self._without(errors)

    def drop(self, errors: Errors, adopt: Callable[[Deployment, Errors], None]) -> None:
        """Drop devices for good; ``adopt`` is told of those that were not dropped before."""
        with self._lock:
            new = {device: error for device, error in errors.items() if device not in self._dropped}
            deployment = self._without(errors) if new else None
            if deployment is None:
                return  # another request was first; perhaps with another device, which cannot be done without as well
            self._dropped |= {device: DeviceError(str(error)) for device, error in new.items()}  # without the stack
            self._deployments = {frozenset(self._dropped): deployment}
            self._deployer.forget_others(deployment)
            adopt(deployment, new)

    def give_up(self, errors: Errors) -> None:
        """Running without these devices did not help: another time there may be another reason to do so."""
        with self._lock:
            left_out = frozenset(self._dropped.keys() | errors.keys())
            if left_out != self._dropped.keys() and self._deployments.get(left_out) is not None:
                del self._deployments[left_out]

    def _without(self, errors: Errors) -> Deployment | None:
        if not self.is_possible:
            return None
        failed = self._dropped | {device: error for device, error in errors.items() if device not in self._dropped}
        left_out = frozenset(failed)
        if left_out not in self._deployments:
            try:
                self._deployments[left_out] = self._deployer.deploy_without(failed)
            except Exception:
                self._deployments[left_out] = None
        return self._deployments[left_out]


class Failover:
    """Runs each inference of a request until it goes well or nothing is left to try."""

    def __init__(self, request: HeteroInferRequest) -> None:
        self._request = request
        self._compiled = request.compiled_model
        self._errors: dict[str, Exception] = {}
        self._is_stale = False  # whether the last inference may have left variables in the middle

    def begin(self) -> None:
        """Before an inference: use the devices that are in use now, with the variables as they should be."""
        self._errors = {}
        request, plan = self._request, self._compiled.plan
        try:
            if request.bound is None or request.bound.plan is not plan or request.bound.is_abandoned:
                request.use(plan)
            elif self._is_stale:
                request.bound.restore()
        except StepError as error:
            self._leave_out(error)
        self._is_stale = False

    def settle(self, error: BaseException | None) -> bool:
        """After the steps, with what they raised: whether that was all; else they are to be run again.

        Raises what the user is to be told.
        """
        try:
            if error is not None:
                raise error
            self._request.bound.write_outputs()
        except StepError as failure:
            self._is_stale = True
            self._leave_out(failure)
            self._request.bound.prepare()
            self._is_stale = False
            return False
        except BaseException:
            self._is_stale = True
            raise
        self.commit()
        return True

    def commit(self) -> None:
        """What failed on the way is dropped, as the others did it."""
        if self._errors:
            self._compiled.fallback.drop(self._errors, self._compiled.adopt)
            self._errors = {}

    def _leave_out(self, failure: StepError) -> None:
        """Use what there is without a device that failed, and without those that failed before in this inference."""
        compiled = self._compiled
        while True:
            if isinstance(failure.error, CancelledError):
                raise failure.error
            if isinstance(failure.error, TensorError):
                raise self._first_error(failure)
            self._errors.setdefault(failure.device, failure.error)
            self._request.check_cancelled()
            deployment = compiled.fallback.without(self._errors)
            if deployment is None:
                raise self._first_error(failure)
            compiled.scheduler.admit(deployment.plan.slots)
            try:
                self._request.use(deployment.plan)
            except StepError as another:
                failure = another
            else:
                return

    def _first_error(self, last: StepError) -> Exception:
        """What the user is told: the first error of a device that stays in use."""
        self._compiled.fallback.give_up(self._errors)
        staying = (error for device, error in self._errors.items() if not self._compiled.fallback.is_dropped(device))
        return next(staying, last.error)
