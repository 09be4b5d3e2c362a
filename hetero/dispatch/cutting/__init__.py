"""Cutting a placed model into subgraphs: the partition, the boundaries between subgraphs, and the plan."""
