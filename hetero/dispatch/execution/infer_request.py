"""HeteroInferRequest: runs the steps of a plan on the tensors of a user."""

from __future__ import annotations

from concurrent.futures import Future

from hetero.core.tensor import Tensor
from hetero.dispatch.cutting.execution_step import StepError
from hetero.dispatch.cutting.failover import Failover
from hetero.dispatch.cutting.plan import Plan
from hetero.dispatch.execution.bound_plan import BoundPlan
from hetero.dispatch.execution.deployed_model import DeployedModel
from hetero.dispatch.execution.scheduler import Inference, OnEnd
from hetero.graph import Output
from hetero.plugin import AsyncInferRequest, ProfilingInfo, RemoteTensor, SyncInferRequest, VariableState
from hetero.plugin.requests.async_infer_request import Completion
from hetero.plugin.requests.sync_infer_request import repair_tensor


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
        ended: Future[BaseException | None] = Future()
        self.compiled_model.scheduler.begin(self.inference(ended.set_result))
        return ended.result()

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

    def set_tensor(self, port: Output, tensor: Tensor) -> None:
        super().set_tensor(port, tensor)
        try:
            self.bound.bind(port, tensor)
        except StepError:
            self._unbound.add(port)  # the next inference binds it again, and handles the error

    def check_context(self, port: Output, tensor: RemoteTensor) -> None:
        """Accept tensors of any context: a tensor that a step does not take is copied."""

    def cancel(self) -> None:
        super().cancel()
        self.bound.cancel()

    def get_profiling_info(self) -> list[ProfilingInfo]:
        stages = super().get_profiling_info()
        return [*stages, *self.bound.get_profiling_info()] if stages else []


class HeteroAsyncInferRequest(AsyncInferRequest):
    """A request whose steps run on the scheduler's threads, so that the steps of several requests overlap."""

    request: HeteroInferRequest

    def __init__(self, request: HeteroInferRequest) -> None:
        super().__init__(request, [])

    def launch(self, done: Completion) -> None:
        compiled = self.request.compiled_model
        compiled.scheduler.submit(lambda: self._run(done), compiled.priority)

    def _run(self, done: Completion) -> None:
        try:
            self.request.run_stage("preprocess")
        except BaseException as error:
            self.end(done, error)
        else:
            self._run_steps(done)

    def _run_steps(self, done: Completion) -> None:
        request = self.request
        request.compiled_model.scheduler.run(request.inference(lambda error: self._finish(done, error)))

    def _finish(self, done: Completion, error: BaseException | None) -> None:
        request = self.request
        try:
            if not request.finish(error):
                request.compiled_model.scheduler.submit(lambda: self._run_steps(done))
                return
            request.run_stage("postprocess")
        except BaseException as raised:
            self.end(done, raised)
        else:
            self.end(done, None)
