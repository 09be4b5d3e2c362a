"""YAML runs: the schema, inputs, outputs and execution."""
