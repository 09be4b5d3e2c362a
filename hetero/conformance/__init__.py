"""Tests for any device: ``pytest --pyargs hetero.conformance --device NAME``.

Behaviour tests, one file a subject, run small models of an operation that the device is found to run. Operation
tests run every case that the device says it can run, and see that it refuses the others with a reason: ONNX's own cases
in ``hetero.conformance.test_onnx_operations``, and element types, dynamic shapes and empty tensors in
``hetero.conformance.test_operations``. Tests of features that the device says it has not are left out. What is told
at the end is what the device supports.
"""
