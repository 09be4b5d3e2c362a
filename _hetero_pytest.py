"""Lets pytest know the options of hetero.conformance, in runs that ask for it and in no others.

pytest reads this module at the start of every run in an environment with hetero, so it imports nothing.
"""


def pytest_load_initial_conftests(early_config):
    """The conftest.py of a package that --pyargs names would be read too late for options of the command line."""
    known = early_config.known_args_namespace
    if known.pyargs and any(argument.startswith("hetero.conformance") for argument in known.file_or_dir):
        early_config.pluginmanager.import_plugin("hetero.conformance.pytest_plugin")
