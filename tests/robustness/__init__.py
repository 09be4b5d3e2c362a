"""Robustness campaign: damaged files of every format, plans of concurrent work, and a soak test.

A format is a module with ``samples()``, which returns undamaged inputs as files; ``MUTATORS``, which damage them; and
``run(folder)``, which uses the files in a folder as a user would. ``run`` may succeed or raise a HeteroError. Any other
exception, the end of the process, more than 20 seconds and more than 2 GB of memory are failures.

``python -m tests.robustness`` runs the whole campaign, ``test_campaign.py`` a part that takes a minute.
"""
