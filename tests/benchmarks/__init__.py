"""Measurements, side by side with the peers; they print medians and ratios and assert nothing."""
