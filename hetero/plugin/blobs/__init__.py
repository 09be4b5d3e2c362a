"""Exported models: the blob's header and checks, its sections, and import by a device."""
