"""Conformance kit: tests for any device. Run ``pytest --pyargs hetero.conformance --device NAME``.

Behavior tests, one file per subject, use small models of one operation that the device supports. Operation tests run
every case that the device supports and check that it refuses the others with a reason:
``suite/test_onnx_operations.py`` has the cases of the ONNX project, ``suite/test_operations.py`` has element types,
dynamic shapes and empty tensors. Tests of optional features that the device reports as unsupported are deselected. A
summary at the end lists what the device supports.
"""
