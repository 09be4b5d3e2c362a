"""BatchInferRequest: an inference that may run together with others, as one batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hetero.plugin import RemoteTensor, SyncInferRequest
from hetero.virtual.gathering import Batch
from hetero.virtual.infer_request import PooledInferRequest

if TYPE_CHECKING:
    from hetero.virtual.batch import BatchCompiledModel


class BatchInferRequest(PooledInferRequest):
    """A request of one sample. The last request of a full batch runs the inference for all of them."""

    compiled_model: BatchCompiledModel

    def __init__(self, compiled_model: BatchCompiledModel) -> None:
        super().__init__(compiled_model, compiled_model.single, compiled_model.binds_requests)
        # The error of writing the outputs after a batch.
        self._output_error: Exception | None = None

    def check_inputs(self) -> None:
        SyncInferRequest.check_inputs(self)  # a tensor that does not fit must not reach the batch of others

    def start(self) -> None:
        gathering = self.compiled_model.gathering
        if gathering is not None:
            batch = gathering.join(self)
            if batch.is_full:
                if batch.requests[-1] is self:
                    self._run_batch(batch)
                else:
                    batch.wait()
                if not batch.has_failed:
                    if self._output_error is not None:
                        raise self._output_error
                    return
        with self._pool.reserved(self.check_cancelled) as worker:
            self.run_on(worker)

    def _run_batch(self, batch: Batch) -> None:
        """Run the inference of all requests of a batch. If it fails, they run by themselves."""
        has_failed = True
        try:
            with self.compiled_model.batched.reserved() as worker:
                used = worker.borrow()
                request = used.request
                for index, member in enumerate(batch.requests):
                    member.send_inputs(index, request)
                request.infer()
                for index, member in enumerate(batch.requests):
                    member.take_outputs(index, request)
                worker.give_back(used)
            has_failed = False
        except Exception as error:
            self.compiled_model.plugin.log.info("%s: a batch failed: %s", self.compiled_model.name, error)
        finally:
            batch.end(has_failed)

    def send_inputs(self, index: int, batched: SyncInferRequest) -> None:
        """Copy the inputs to a sample of the batched request."""
        for tensor, joined in zip(self.input_tensors(), batched.input_tensors()):
            tensor.copy_to(joined.array[index : index + 1])

    def take_outputs(self, index: int, batched: SyncInferRequest) -> None:
        """Copy the outputs, and the profile, from the batched request. An error is raised by ``start``."""
        self._output_error = None
        try:
            for tensor, joined in zip(self.output_tensors(), batched.output_tensors()):
                tensor.copy_from(joined.array[index : index + 1])
            if self.is_profiled:
                self._profile = batched.get_profiling_info()
        except Exception as error:
            self._output_error = self.device_error(error, "start")

    def cancel(self) -> None:
        super().cancel()
        if self.compiled_model.gathering is not None:
            self.compiled_model.gathering.wake()

    def takes(self, tensor: RemoteTensor) -> bool:
        return self.compiled_model.single.workers[0].takes(tensor)
