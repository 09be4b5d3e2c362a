"""The cost model of placement by cost (MIN_CUT, PIPELINE).

``model`` answers what an operation, a transfer or a subgraph costs; ``benchmark`` measures a device; ``database`` keeps
both what was benchmarked and what ``hetero calibrate`` measured. The amount of work of an operation, which needs no
device, is in ``hetero.ops.work_estimate``, as constant folding and the reference use it too.
"""
