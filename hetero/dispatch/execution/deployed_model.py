"""DeployedModel: a compiled model as its requests run it, on a plan that may change when a device fails."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from hetero import properties as props
from hetero.dispatch.cutting.deployment import Deployer, Deployment
from hetero.dispatch.cutting.failover import Errors, Fallback, device_timeout, runtime_fallback, variable_snapshots
from hetero.dispatch.cutting.plan import Plan
from hetero.dispatch.execution.scheduler import Scheduler
from hetero.dispatch.report import NOTICE, PlacementReport, log
from hetero.graph import Model
from hetero.plugin import CompiledModel, PreparedModel
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
        # A model that assigns variables can only fail over with snapshots of them.
        self._may_fail_over = (
            properties.get(runtime_fallback)
            and len(properties.get(props.device.priorities)) > 1
            and (not plan.setters or self.timeout > 0 or properties.get(variable_snapshots))
        )
        self.fallback = Fallback((lambda: deployer) if deployer and self._may_fail_over else None)
        log.log(NOTICE, "%s: %s", self.name, report.summary())

    @property
    def keeps_snapshots(self) -> bool:
        """Whether requests copy their variables to the host, as a sub-request may be replaced after a failure."""
        return self.fallback.is_possible or self.timeout > 0

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
