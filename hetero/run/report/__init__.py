"""The report page: one HTML file with the placement, the times and the memory of a model."""
