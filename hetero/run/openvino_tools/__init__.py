"""The commands ``ovc`` and ``benchmark_app`` of programs for OpenVINO, on top of hetero's own."""
