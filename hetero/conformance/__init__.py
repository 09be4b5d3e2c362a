"""Tests for any device: ``pytest --pyargs hetero.conformance --device NAME``.

Behaviour tests, one file a subject, run small models of an operation that the device is found to run. Operation
tests run every case that the device says it can run. The table at the end tells what the device supports.
"""
