"""Passes that move transposes and channel shuffles until they meet and cancel."""
