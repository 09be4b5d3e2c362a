"""A campaign of damaged input: files of every format, plans of concurrent work, and a soak.

A format is a module with ``samples()``, whole inputs of the format as files; ``MUTATORS``, which damage them; and
``run(folder)``, which uses the files in a folder as a user would. ``run`` may succeed or raise a HeteroError; anything
else is a failure: other exceptions, the end of the process, more than 20 seconds, more than 2 GB of memory.

``python -m tests.robustness`` runs it for long, ``test_campaign.py`` for a minute.
"""
