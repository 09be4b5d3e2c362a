"""Import of a blob by its device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hetero import properties as props
from hetero.plugin.blobs.blob import Blob
from hetero.plugin.compiled_model import CompiledModel, checked
from hetero.plugin.plugin import Plugin
from hetero.plugin.remote import RemoteContext
from hetero.properties import PropertyTable
from hetero.system.errors import BlobError, FrontendError, GraphError, PropertyError, device_errors


def import_blob(
    device: Plugin, blob: Blob, options: Mapping[str, Any], context: RemoteContext | None = None
) -> CompiledModel:
    """Return the compiled model in a blob. ``options`` take precedence over those that it was compiled with.

    Raises BlobError if the blob belongs to another device or is damaged, DeviceError if the import fails.
    """
    architecture = device_table(device, options).value_of(props.device.architecture)
    blob.check_fits(device.name, architecture, device.package)
    problem = f"{device.name} failed to import {blob.label}"
    with device_errors(problem):
        try:
            device.property_table(blob.options)
        except PropertyError as error:
            raise BlobError(f"the options of {blob.label} are invalid: {error}") from error
        try:
            return checked(device.import_model(blob.sections, {**blob.options, **options}, context), problem)
        except (FrontendError, GraphError) as error:
            raise BlobError(f"{blob.label} contains no model that {device.name} can compile: {error}") from error
        except BlobError as error:
            if blob.label in str(error):
                raise
            raise BlobError(
                f"{blob.label} is damaged: {error}"
            ) from error  # the section's error does not name the file


def exports_models(device: Plugin, options: Mapping[str, Any]) -> bool:
    """Return whether the device has the capability EXPORT_IMPORT."""
    return props.device.Capability.EXPORT_IMPORT in device_table(device, options).value_of(props.device.capabilities)


def device_table(device: Plugin, options: Mapping[str, Any]) -> PropertyTable:
    """Return the properties of the device that DEVICE_ID selects, without the other options."""
    with device_errors(f"{device.name} failed to list its properties"):
        return device.property_table({key: value for key, value in options.items() if key == props.device.id})
