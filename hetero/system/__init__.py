"""The system around the program: files, mapped files, cache folders, fork, memory, messages, errors, tracing."""
