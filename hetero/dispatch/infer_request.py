"""HeteroInferRequest: runs the steps of a plan on the tensors of a user."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING

from hetero.dispatch.bound_plan import BoundPlan
from hetero.dispatch.scheduler import Inference
from hetero.graph import Output
from hetero.plugin import AsyncInferRequest, ProfilingInfo, RemoteTensor, SyncInferRequest, VariableState
from hetero.tensor import Tensor

if TYPE_CHECKING:
    from hetero.dispatch.compiled_model import HeteroCompiledModel


class HeteroInferRequest(SyncInferRequest):
    """Steps that can only run one after the other run on the caller's thread, others at once where their devices do."""

    compiled_model: HeteroCompiledModel

    def __init__(self, compiled_model: HeteroCompiledModel) -> None:
        super().__init__(compiled_model)
        self.bound = BoundPlan(compiled_model.plan, self)

    def query_state(self) -> list[VariableState]:
        return list(self.bound.states.values())

    def preprocess(self) -> None:
        super().preprocess()
        self.bound.prepare()

    def start(self) -> None:
        bound = self.bound
        if bound.plan.is_chain:
            for index in range(len(bound.plan.steps)):
                bound.run_step(index)
            return
        ended: Future[BaseException | None] = Future()
        self.compiled_model.scheduler.begin(Inference(bound.plan, bound.run_step, ended.set_result))
        if (error := ended.result()) is not None:
            raise error

    def postprocess(self) -> None:
        self.bound.hand_out()

    def set_tensor(self, port: Output, tensor: Tensor) -> None:
        super().set_tensor(port, tensor)
        self.bound.bind(port, tensor)

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

    def launch(self, done: Future[None]) -> None:
        compiled = self.request.compiled_model
        compiled.scheduler.submit(lambda: self._run(done), compiled.priority)

    def _run(self, done: Future[None]) -> None:
        request = self.request
        try:
            request.run_stage("preprocess")
            bound = request.bound
        except BaseException as error:
            self.end(done, error)
            return
        request.compiled_model.scheduler.run(
            Inference(bound.plan, bound.run_step, lambda error: self._hand_out(done, error))
        )

    def _hand_out(self, done: Future[None], error: BaseException | None) -> None:
        try:
            if error is None:
                self.request.run_stage("postprocess")
        except BaseException as raised:
            error = raised
        self.end(done, error)
