"""The kit fails for devices that are broken: each in one way, and a test that must find it."""

import threading
from pathlib import Path

import numpy as np
import pytest
from hetero_template.compiled_model import TemplateCompiledModel
from hetero_template.infer_request import TemplateInferRequest
from hetero_template.plugin import TemplatePlugin

from hetero import Tensor
from hetero.conformance import pytest_plugin
from hetero.passes import fold_constants
from hetero.plugin import AsyncInferRequest, QueryResult, installed_plugins
from hetero.system.errors import HeteroError, NotSupportedError
from tests.tiers import in_sample


def on_host(tensor):
    array = np.empty(tensor.shape, tensor.element_type.to_dtype())
    tensor.copy_to(array)
    return array


class Request(TemplateInferRequest):
    """A request of the reference, with the plugin's faults."""

    def start(self):
        plugin = self.compiled_model.plugin
        if plugin.fault == "hangs":
            plugin.leave.wait()
        if plugin.fault == "raises":
            raise KeyError("lost")
        if plugin.fault == "keeps the first input":
            plugin.first = getattr(plugin, "first", None) or [tensor.data.copy() for tensor in self.input_tensors()]
            for tensor, array in zip(self.input_tensors(), plugin.first):
                tensor.data[...] = array
        if plugin.fault == "reads inputs as if they lay together":
            for port in self.compiled_model.inputs:
                data = self.get_tensor(port).data
                memory = data if data.base is None else data.base.ravel()[: data.size].reshape(data.shape)
                self.set_tensor(port, Tensor(memory, shared_memory=True))
        if plugin.fault == "leaves outputs unwritten":
            return
        before = [on_host(tensor) for tensor in self.output_tensors()]
        super().start()
        if plugin.fault == "leaves zeros unwritten":
            for old, tensor in zip(before, self.output_tensors()):
                tensor.copy_from(np.where(tensor.data == 0, old, tensor.data))
        for index, (port, tensor) in enumerate(zip(self.compiled_model.outputs, self.output_tensors())):
            getattr(self, plugin.fault.replace(" ", "_"), lambda *_: None)(plugin, index, port, tensor)
        if plugin.fault == "changes inputs":
            for tensor in self.input_tensors():
                tensor.copy_from(np.zeros_like(on_host(tensor)))

    def gives_wrong_numbers(self, plugin, index, port, tensor):
        tensor.data[...] = tensor.data * 2

    def gives_a_wrong_shape(self, plugin, index, port, tensor):
        tensor.take(tensor.data[None])

    def gives_a_wrong_type(self, plugin, index, port, tensor):
        tensor.take(tensor.data.astype(np.float64))

    def keeps_the_shape(self, plugin, index, port, tensor):
        plugin.shape = getattr(plugin, "shape", tensor.shape)
        tensor.take(np.resize(tensor.data, plugin.shape))

    def shares_outputs(self, plugin, index, port, tensor):
        memory = plugin.__dict__.setdefault(f"memory {index}", tensor)
        memory.copy_from(tensor)
        self._tensors[port] = memory

    def writes_elsewhere(self, plugin, index, port, tensor):
        self._tensors[port] = Tensor(tensor.data)
        tensor.data[...] = 0

    def get_profiling_info(self):
        return [] if self.compiled_model.plugin.fault == "has no profile" else super().get_profiling_info()

    def check_inputs(self):
        if self.compiled_model.plugin.fault != "takes any tensor":
            super().check_inputs()

    def set_tensor(self, port, tensor):
        if self.compiled_model.plugin.fault == "takes any tensor":
            self._tensors[port] = tensor
        else:
            super().set_tensor(port, tensor)

    def check_cancelled(self):
        if self.compiled_model.plugin.fault != "goes on when cancelled":
            super().check_cancelled()


class Forgetful(AsyncInferRequest):
    """It forgets errors, or its callback, or that it is busy."""

    def wait(self):
        try:
            super().wait()
        except HeteroError:
            if self.request.compiled_model.plugin.fault != "forgets errors":
                raise

    def wait_for(self, timeout):
        self.wait()
        return True

    def set_callback(self, callback, on_own_thread=True):
        if self.request.compiled_model.plugin.fault != "forgets callbacks":
            super().set_callback(callback, on_own_thread)

    def check_idle(self):
        if self.request.compiled_model.plugin.fault != "is never busy":
            super().check_idle()


class Compiled(TemplateCompiledModel):
    def __init__(self, prepared):
        super().__init__(prepared)
        if self.plugin.fault == "mixes up ports":
            self.outputs.reverse()
        if self.plugin.fault == "leaves threads":
            threading.Thread(target=self.plugin.leave.wait, daemon=True).start()

    def create_sync_infer_request(self):
        return Request(self)

    def export_sections(self):
        if self.plugin.fault == "exports nothing":
            return {}
        if self.plugin.fault == "cannot export what it says it can":
            raise NotSupportedError(f"{self.device_name} cannot export compiled models")
        return super().export_sections()

    def get_runtime_model(self):
        if self.plugin.fault == "refuses a feature by a wrong error":
            raise NotImplementedError("not yet")
        model = super().get_runtime_model()
        if self.plugin.fault == "tells a wrong runtime model":
            for node in model.get_ordered_ops():
                node.rt_info["execOrder"] = "0"
        return model

    def create_infer_request(self):
        request = self.create_sync_infer_request()
        return Forgetful(request, [(self.executor, request.infer)])


class Broken(TemplatePlugin):
    """The reference with a fault."""

    def __init__(self, fault):
        super().__init__()
        self.fault, self.leave = fault, threading.Event()

    def query_model(self, model, options):
        if self.fault == "changes the user's model":
            fold_constants(model)
            model.get_ordered_ops()[-1].friendly_name = "changed"
        found = super().query_model(model, options)
        if self.fault == "claims everything":
            found.update({node.friendly_name: self.name for node in model.get_ordered_ops()})
        if self.fault == "gives no reasons":
            return dict(found)
        if self.fault == "answers under its own names":
            return QueryResult({f"{name}/mine": where for name, where in found.items()})
        if self.fault == "answers for another device":
            found.update(dict.fromkeys(found, "OTHER"))
        return found

    def estimate_cost(self, node, options):
        return {"estimates less than nothing": -1.0, "estimates nan": np.nan, "estimates a text": "1"}.get(self.fault)

    def compile_model(self, model, options, context=None):
        if self.fault == "refuses what it claims" and len(model.get_ordered_ops()) > 3:
            raise ValueError("too many operations")
        if self.fault == "compiles to nothing":
            return None
        if self.fault == "refuses by a wrong error":
            try:
                super().compile_model(model, options, context)
            except HeteroError as error:
                raise RuntimeError(str(error)) from None
        return super().compile_model(model, {} if self.fault == "does not look at options" else options, context)

    def compile(self, prepared):
        return Compiled(prepared)

    def property_table(self, options):
        table = super().property_table(options)
        if self.fault == "ignores hints":
            table.set_internal({"NUM_STREAMS": 2, "OPTIMAL_NUMBER_OF_INFER_REQUESTS": 2})
        if self.fault == "shares no thread":
            table.set_internal({"EXCLUSIVE_ASYNC_REQUESTS": False})
        if self.fault == "knows no priority":
            table.set_internal({"MODEL_PRIORITY": "MEDIUM"})
        return table

    def set_property(self, values, options):
        if self.fault != "takes any property":
            super().set_property(values, options)

    def get_property(self, key, options):
        if self.fault == "lists what it has not" and str(key) == "DEVICE_ARCHITECTURE":
            raise KeyError(key)
        return super().get_property(key, options)


# By fault, tests that must fail; others may.
FAULTS = {
    "claims everything": ["plugin::test_an_unknown_operation_is_refused_with_a_reason"],
    "gives no reasons": ["plugin::test_an_unknown_operation_is_refused_with_a_reason"],
    "answers under its own names": ["plugin::test_query_names_the_models_nodes_and_the_device"],
    "answers for another device": ["plugin::test_query_names_the_models_nodes_and_the_device"],
    "changes the user's model": ["plugin::test_query_and_compile_leave_the_model_as_it_is"],
    "refuses what it claims": ["compiled_model::test_several_operations"],
    "compiles to nothing": ["plugin::test_supported_model_compiles_and_runs"],
    "estimates less than nothing": ["plugin::test_estimated_costs_are_finite_numbers_of_seconds_or_none[2]"],
    "estimates nan": ["plugin::test_estimated_costs_are_finite_numbers_of_seconds_or_none[2]"],
    "estimates a text": ["plugin::test_estimated_costs_are_finite_numbers_of_seconds_or_none[-1]"],
    "refuses by a wrong error": ["plugin::test_compiling_an_unknown_operation_names_it"],
    "does not look at options": [
        "plugin::test_unknown_properties_are_refused",
        "plugin::test_read_only_properties_cannot_be_set",
        "compiled_model::test_properties_of_the_compilation_take_precedence[PERF_COUNT]",
    ],
    "takes any property": [
        "plugin::test_unknown_properties_are_refused",
        "plugin::test_read_only_properties_cannot_be_set",
        "plugin::test_a_bad_value_is_refused_and_changes_nothing",
    ],
    "ignores hints": ["properties::test_streams_follow_the_performance_hint"],
    "shares no thread": ["properties::test_exclusive_requests_share_a_thread_in_the_order_of_priority[True]"],
    "knows no priority": [
        "properties::test_exclusive_requests_share_a_thread_in_the_order_of_priority[True]",
        "properties::test_properties_are_those_of_the_compilation",
    ],
    "lists what it has not": ["plugin::test_every_supported_property_can_be_read"],
    "mixes up ports": [
        "compiled_model::test_ports_are_those_of_the_model",
        "compiled_model::test_outputs_belong_to_the_right_inputs",
    ],
    "leaves threads": ["async_infer_request::test_no_thread_is_left_when_the_compiled_model_is_gone"],
    "raises": ["plugin::test_supported_model_compiles_and_runs", "operations::test_dynamic_shapes[Relu]"],
    "hangs": ["plugin::test_supported_model_compiles_and_runs", "async_infer_request::test_start_and_wait"],
    "gives wrong numbers": [
        "plugin::test_supported_model_compiles_and_runs",
        "onnx_operations::test_case[test_exp]",
        "operations::test_element_type[10-Ceiling-f16]",
        "hard_values::test_hard_values[Ceiling-f16-static]",
        "dispatch::test_a_model_alone_on_the_device",
    ],
    "gives a wrong shape": ["infer_request::test_inferences_follow_each_other"],
    "gives a wrong type": ["infer_request::test_inferences_follow_each_other"],
    "keeps the shape": ["infer_request::test_dynamic_shapes"],
    "keeps the first input": ["infer_request::test_inferences_follow_each_other"],
    "changes inputs": [
        "infer_request::test_inputs_are_kept_and_not_changed",
        "remote::test_inputs_and_outputs[input]",
    ],
    "leaves outputs unwritten": [
        "infer_request::test_inferences_follow_each_other",
        "infer_request::test_output_tensors_of_the_user_are_written_in_place",
        "dispatch::test_a_model_alone_on_the_device",
    ],
    "leaves zeros unwritten": ["operations::test_element_type[14-Floor-f32]"],
    "shares outputs": ["infer_request::test_requests_of_one_model_are_independent"],
    "writes elsewhere": ["infer_request::test_output_tensors_of_the_user_are_written_in_place"],
    "reads inputs as if they lay together": ["infer_request::test_tensors_over_a_part_of_an_array"],
    "takes any tensor": [
        "infer_request::test_a_wrong_tensor_is_refused_and_the_request_stays_usable[type]",
        "infer_request::test_a_wrong_output_tensor_is_refused_and_the_request_stays_usable",
    ],
    "has no profile": ["infer_request::test_profile_of_the_last_inference"],
    "forgets errors": ["async_infer_request::test_wait_raises_the_error_and_the_request_stays_usable"],
    "forgets callbacks": ["async_infer_request::test_callback_is_called_once_with_userdata_and_results"],
    "exports nothing": ["export::test_an_imported_model_is_the_exported_one"],
    "cannot export what it says it can": [
        "features::test_feature_works_or_is_reported_as_unsupported[export and import]"
    ],
    "refuses a feature by a wrong error": [
        "features::test_feature_works_or_is_reported_as_unsupported[runtime models]"
    ],
    "tells a wrong runtime model": ["runtime_model::test_it_executes_all_operations_from_inputs_to_outputs"],
    "is never busy": ["async_infer_request::test_a_busy_request_raises_and_stays_usable"],
    "goes on when cancelled": ["async_infer_request::test_cancel_ends_an_inference_and_the_request_stays_usable"],
}


class Outcomes:
    """A pytest plugin that keeps how tests ended."""

    def __init__(self):
        self.by_test = {}

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.failed:
            path, _, name = report.location
            self.by_test[f"{Path(path).stem.removeprefix('test_')}::{name}"] = report.outcome


def run_kit(plugin, tests, folder, monkeypatch) -> dict[str, str]:
    monkeypatch.setitem(installed_plugins().devices, "BROKEN", lambda: plugin)
    monkeypatch.setattr(pytest_plugin, "SECONDS", 1)
    monkeypatch.chdir(folder)
    (folder / "pytest.ini").write_text("[pytest]\n")
    outcomes = Outcomes()
    options = ["--device", "BROKEN", "-qq", "-s", "--no-summary", "-p", "no:cacheprovider", "-p", "no:randomly"]
    pytest.main(["--pyargs", *(f"hetero.conformance.suite.test_{test}" for test in tests), *options], [outcomes])
    plugin.leave.set()
    return outcomes.by_test


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if in_sample(fault, 3)])
def test_the_fault_is_found(fault, tmp_path, monkeypatch):
    outcomes = run_kit(Broken(fault), FAULTS[fault], tmp_path, monkeypatch)
    assert outcomes == dict.fromkeys(FAULTS[fault], "failed")


def test_without_a_fault_all_of_these_pass(tmp_path, monkeypatch):
    tests = sorted({test for tests in FAULTS.values() for test in tests})
    assert run_kit(Broken(""), tests, tmp_path, monkeypatch) == dict.fromkeys(tests, "passed")
