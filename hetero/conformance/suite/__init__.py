"""The tests of the conformance kit."""
