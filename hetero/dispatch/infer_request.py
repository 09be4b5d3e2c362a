"""HeteroInferRequest: runs the steps of a plan on the tensors of a user."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING

from hetero.dispatch.bound_plan import BoundPlan
from hetero.dispatch.failover import Failover
from hetero.dispatch.plan import Plan, StepError
from hetero.dispatch.scheduler import Inference, OnEnd
from hetero.errors import TensorError
from hetero.graph import Output
from hetero.plugin import AsyncInferRequest, ProfilingInfo, RemoteTensor, SyncInferRequest, VariableState
from hetero.plugin.async_infer_request import Completion
from hetero.plugin.sync_infer_request import check_tensor, smallest_tensor
from hetero.tensor import Tensor

if TYPE_CHECKING:
    from hetero.dispatch.compiled_model import HeteroCompiledModel


class HeteroInferRequest(SyncInferRequest):
    """Steps that can only run one after the other run on the caller's thread, others at once where their devices do.

    With a time-out all run on the scheduler's threads, which can be left behind.
    """

    compiled_model: HeteroCompiledModel

    def __init__(self, compiled_model: HeteroCompiledModel) -> None:
        super().__init__(compiled_model)
        self.bound: BoundPlan | None = None
        self.attempts = Failover(self)
        self.attempts.begin()
        self.attempts.commit()

    def use(self, plan: Plan) -> None:
        """Run on a plan from now on, with the tensors and variables of the request. Raises StepError."""
        for port in self.compiled_model.outputs if self.bound is not None else ():
            _mend(port, self.get_tensor(port))
        compiled = self.compiled_model
        bound = BoundPlan(plan, self, protects=compiled.timeout > 0, keeps=compiled.keeps_variables)
        if self.bound is not None:
            bound.resume_from(self.bound)
        self.bound = bound

    def query_state(self) -> list[VariableState]:
        return list(self.bound.states.values())

    def preprocess(self) -> None:
        super().preprocess()
        self.attempts.begin()
        self.bound.prepare()

    def start(self) -> None:
        while not self.attempts.settle(self._run_steps()):
            pass

    def _run_steps(self) -> BaseException | None:
        bound = self.bound
        if bound.plan.is_chain and not self.compiled_model.timeout:
            try:
                for index in range(len(bound.plan.steps)):
                    bound.run_step(index)
            except BaseException as error:
                return error
            return None
        ended: Future[BaseException | None] = Future()
        self.compiled_model.scheduler.begin(self.inference(ended.set_result))
        return ended.result()

    def inference(self, on_end: OnEnd) -> Inference:
        """The steps of an inference, for the scheduler."""
        bound = self.bound
        return Inference(bound.plan, bound.run_step, on_end, bound.abandon)

    def set_tensor(self, port: Output, tensor: Tensor) -> None:
        super().set_tensor(port, tensor)
        try:
            self.bound.bind(port, tensor)
        except StepError:
            self.bound.is_abandoned = True  # the next inference binds all tensors again, and handles the error

    def check_context(self, port: Output, tensor: RemoteTensor) -> None:
        """Any will do: what the steps do not take is copied."""

    def cancel(self) -> None:
        super().cancel()
        self.bound.cancel()

    def get_profiling_info(self) -> list[ProfilingInfo]:
        return [*super().get_profiling_info(), *self.bound.get_profiling_info()]


class HeteroAsyncInferRequest(AsyncInferRequest):
    """In the background steps run on the scheduler's threads, so that requests take turns on the devices."""

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
        request.compiled_model.scheduler.run(request.inference(lambda error: self._settle(done, error)))

    def _settle(self, done: Completion, error: BaseException | None) -> None:
        request = self.request
        try:
            if not request.attempts.settle(error):
                request.compiled_model.scheduler.submit(lambda: self._run_steps(done))
                return
            request.run_stage("postprocess")
        except BaseException as raised:
            self.end(done, raised)
        else:
            self.end(done, None)


def _mend(port: Output, tensor: Tensor) -> None:
    """A device that fails may leave another shape or type in an output than the port's."""
    try:
        check_tensor(port, tensor)
    except TensorError:
        tensor.take(smallest_tensor(port).data)
