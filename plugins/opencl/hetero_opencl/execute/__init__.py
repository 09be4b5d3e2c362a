"""Execution of programs: bound memory, workspaces, requests and remote tensors."""
