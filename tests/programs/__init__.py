"""Programs that use OpenVINO, run with hetero in its place.

Each folder is a group that shares an environment, ``.venv-programs-GROUP``, which the Makefile makes from
``requirements.txt``. Each other file in it is a program: it does the main job of a package and saves its results with
``numpy.savez(sys.argv[1], …)``. Its docstring says ``package: the job.``. A result named ``tolerance`` is the largest
difference that the program allows, as a part of the largest value.
"""
