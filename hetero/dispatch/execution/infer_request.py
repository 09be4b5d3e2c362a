"""HeteroInferRequest: runs the steps of a plan on the tensors of a user.

DeployedModel is the compiled model as requests run it, on a plan that may change when a device fails.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hetero import properties as props
from hetero.core.tensor import Tensor
from hetero.dispatch.cutting.deployment import Deployer, Deployment
from hetero.dispatch.cutting.failover import (
    Errors,
    Failover,
    Fallback,
    device_timeout,
    runtime_fallback,
    variable_snapshots,
)
from hetero.dispatch.cutting.plan import Plan, StepError
from hetero.dispatch.execution.bound_plan import BoundPlan
from hetero.dispatch.execution.scheduler import Inference, OnEnd, Scheduler
from hetero.dispatch.report import PlacementReport, log
from hetero.graph import Model, Output
from hetero.plugin import (
    AsyncInferRequest,
    CompiledModel,
    PreparedModel,
    ProfilingInfo,
    RemoteTensor,
    SyncInferRequest,
    VariableState,
)
from hetero.plugin.requests.end import End
from hetero.plugin.requests.sync_infer_request import repair_tensor
from hetero.properties import Property

placement_report = Property("PLACEMENT_REPORT", PlacementReport, None, props.Mutability.RO)


class DeployedModel(CompiledModel):
    """A plan, and what its requests share: the scheduler and the fallback.

    ``deployer`` deploys the model again after a device failed. An imported model has none, as there is no model to
    deploy, unless the model cache gives it the original: ``make_deployer`` makes the deployer then.
    """

    def __init__(
        self,
        prepared: PreparedModel,
        plan: Plan,
        report: PlacementReport,
        deployer: Deployer | None = None,
        make_deployer: Callable[[Model], Deployer] | None = None,
    ) -> None:
        super().__init__(prepared)
        properties = prepared.properties
        #: Seconds that a device may take for a step; 0 for no limit.
        self.timeout = properties.get(device_timeout) / 1e3
        self._make_deployer = make_deployer
        self._use(plan, report)
        self._has_snapshots = self.timeout > 0 or properties.get(variable_snapshots)
        # A model that assigns variables can only fail over with snapshots of them.
        self._may_fail_over = (
            properties.get(runtime_fallback)
            and len(properties.get(props.device.priorities)) > 1
            and (self._has_snapshots or not any(use.setters for use in plan.variables))
        )
        self.fallback = Fallback((lambda: deployer) if deployer and self._may_fail_over else None)
        log.debug("%s: %s", self.name, report.summary())

    @property
    def keeps_snapshots(self) -> bool:
        """Whether requests copy their variables to the host, as a sub-request may be replaced after a failure."""
        return self._has_snapshots or self.fallback.is_possible

    def set_original(self, original: Model | Callable[[], Model]) -> None:
        make_deployer = self._make_deployer
        if make_deployer and self._may_fail_over:
            kept = original.clone() if isinstance(original, Model) else original  # the user may change theirs
            self.fallback = Fallback(lambda: make_deployer(kept if isinstance(kept, Model) else kept()))

    def adopt(self, deployment: Deployment, errors: Errors) -> None:
        """Run on another deployment from now on, as devices failed with these errors."""
        self._use(deployment.plan, deployment.report)
        self._pass_on_profiling()  # PERF_COUNT may have been set after the compilation
        for device in errors:
            self.scheduler.drop(device)
        # The report has the error of the request that failed first, which may be another one.
        reasons = "; ".join(failure.reason for failure in deployment.report.failures if failure.device in errors)
        summary = deployment.report.summary()
        log.warning("%s: no longer on %s: %s; now %s", self.name, " and ".join(errors), reasons, summary)

    def _use(self, plan: Plan, report: PlacementReport) -> None:
        self.plan = plan
        self.properties.set_internal(
            {
                props.num_streams: max(plan.slots.values(), default=1),
                props.optimal_number_of_infer_requests: sum(plan.slots.values()) or 1,
                props.execution_devices: tuple(dict.fromkeys(step.device for step in plan.steps)),
                placement_report: report,
            }
        )

    def set_property(self, values: Mapping[str, Any]) -> None:
        super().set_property(values)
        self._pass_on_profiling()

    def _pass_on_profiling(self) -> None:
        for step in self.plan.steps:
            if props.enable_profiling in step.compiled.mutable_properties:
                step.compiled.set_property({props.enable_profiling: self.is_profiled})

    @functools.cached_property
    def scheduler(self) -> Scheduler:
        return Scheduler(f"{self.device_name} {self.name}", self.plan.slots, self.timeout)


class HeteroInferRequest(SyncInferRequest):
    """A request that runs the steps on the caller's thread, unless devices compute at the same time on several threads.

    Then the steps run on the scheduler's threads; with a timeout always, as a thread that hangs is abandoned.
    """

    compiled_model: DeployedModel

    def __init__(self, compiled_model: DeployedModel) -> None:
        super().__init__(compiled_model)
        self._failover = Failover(compiled_model.fallback, compiled_model.adopt)
        self._unbound: set[Output] = set()  # ports whose tensor a step did not take
        self._is_stale = False  # whether the last inference failed, so that variables may be half assigned
        self._failover.begin()
        try:
            self.bound = self._bind(compiled_model.plan, None)
        except StepError as failure:
            self.bound = self._bind_without(failure, None)
        self._failover.commit()

    def _use_current_plan(self) -> None:
        """Bind the plan that the compiled model uses now, with the variables as after the last successful inference."""
        self._failover.begin()
        plan = self.compiled_model.plan
        try:
            if self.bound.plan is not plan or self.bound.is_abandoned:
                self.bound = self._bind(plan, self.bound)
            elif self._is_stale:
                self.bound.restore()
            for port in list(self._unbound):
                self.bound.bind(port, self.get_tensor(port))
                self._unbound.discard(port)
        except StepError as failure:
            self.bound = self._bind_without(failure, self.bound)
        self._is_stale = False

    def _bind(self, plan: Plan, before: BoundPlan | None) -> BoundPlan:
        """Bind a plan, with the variables of the one that was bound before. Raise StepError if a device fails."""
        compiled = self.compiled_model
        if before is not None:
            for port, tensor in zip(compiled.outputs, self.output_tensors()):
                repair_tensor(port, tensor)
        bound = BoundPlan(plan, self, compiled.timeout > 0, compiled.keeps_snapshots)
        if before is not None:
            bound.resume_from(before)
        self._unbound.clear()
        return bound

    def _bind_without(self, failure: StepError, before: BoundPlan | None) -> BoundPlan:
        """Bind a plan without the device that failed. Raise the error for the user if there is none."""
        while True:
            self.check_cancelled()
            plan = self._failover.plan_without(failure)
            self.compiled_model.scheduler.admit(plan.slots)
            try:
                return self._bind(plan, before)
            except StepError as another:
                failure = another

    def query_state(self) -> list[VariableState]:
        return list(self.bound.states.values())

    def preprocess(self) -> None:
        self._use_current_plan()
        self.bound.prepare()

    def start(self) -> None:
        while not self.finish(self._run_steps()):
            pass

    def _run_steps(self) -> BaseException | None:
        """Run all steps. Return the first error, None if all succeeded."""
        bound = self.bound
        if not (bound.needs_threads or self.compiled_model.timeout):
            return bound.run_on_this_thread()
        end = End()
        has_begun = False
        try:
            scheduler, inference = self.compiled_model.scheduler, self.inference(end.set)
            # On another thread: Ctrl-C on this one could come after a slot was taken, and leave it taken.
            scheduler.submit(lambda: scheduler.run(inference), self.compiled_model.priority)
            has_begun = True
            end.wait()
            return end.error
        except BaseException as error:  # such as Ctrl-C, while the steps run on other threads
            self.cancel()
            if not (has_begun and _has_ended(end)):
                bound.is_abandoned = True
            return error

    def inference(self, on_end: OnEnd) -> Inference:
        """Return the steps of an inference, for the scheduler."""
        bound = self.bound
        return Inference(bound.plan, lambda index: bound.steps[index].run(), on_end, bound.abandon)

    def finish(self, error: BaseException | None) -> bool:
        """Write the outputs after all steps ran; ``error`` is what they raised.

        Returns False if a device failed and the steps must run again, on a plan without it. Raises the error for the
        user.
        """
        try:
            if error is not None:
                raise error
            self.check_cancelled()
            self.bound.write_outputs()
        except StepError as failure:
            self._is_stale = True
            self.bound = self._bind_without(failure, self.bound)
            self.bound.prepare()
            self._is_stale = False
            return False
        except BaseException:
            self._is_stale = True
            raise
        self._failover.commit()
        return True

    def _finish(self) -> None:
        # Without check_cancelled: a cancellation after the variables were assigned came too late.
        self.check_outputs()
        self.record_profile()

    def set_tensor(self, port: Output, tensor: Tensor) -> None:
        super().set_tensor(port, tensor)
        try:
            self.bound.bind(port, tensor)
        except StepError:
            self._unbound.add(port)  # the next inference binds it again, and handles the error

    def share_input(self, port: Output, array: np.ndarray) -> None:
        shared = self._shared.get(port)
        is_same = shared is not None and shared.array is array
        super().share_input(port, array)
        if not is_same:
            self.bound.note_other_memory()

    def check_context(self, port: Output, tensor: RemoteTensor) -> None:
        """Accept tensors of any context: a tensor that a step does not take is copied."""

    def cancel(self) -> None:
        super().cancel()
        self.bound.cancel()

    def get_profiling_info(self) -> list[ProfilingInfo]:
        stages = super().get_profiling_info()
        return [*stages, *self.bound.get_profiling_info()] if stages else []


def _has_ended(end: End) -> bool:
    """Wait for the end of a cancelled inference. Return False if the wait is interrupted too, as a device may hang."""
    try:
        end.wait()
    except BaseException:
        return False
    return True


class HeteroAsyncInferRequest(AsyncInferRequest):
    """A request whose steps run on the scheduler's threads, so that the steps of several requests overlap."""

    request: HeteroInferRequest

    def __init__(self, request: HeteroInferRequest) -> None:
        super().__init__(request, [])

    def launch(self, end: End) -> None:
        compiled = self.request.compiled_model
        compiled.scheduler.submit(lambda: self._run(end), compiled.priority)

    def _run(self, end: End) -> None:
        if not self.take_up(end):
            return
        try:
            self.request.run_stage("preprocess")
        except BaseException as error:
            self.end(end, error)
        else:
            self._run_steps(end)

    def _run_steps(self, end: End) -> None:
        request = self.request
        request.compiled_model.scheduler.run(request.inference(lambda error: self._finish(end, error)))

    def _finish(self, end: End, error: BaseException | None) -> None:
        request = self.request
        try:
            if not request.finish(error):
                request.compiled_model.scheduler.submit(lambda: self._run_steps(end))
                return
            request._finish()
        except BaseException as raised:
            self.end(end, raised)
        else:
            self.end(end, None)
