"""Writing of ONNX files: save_onnx."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from onnx import ModelProto

from hetero.frontend.onnx.graph_writer import GraphWriter, SharedState
from hetero.frontend.onnx.node_writer import OPSETS
from hetero.graph import Model, walk_nested
from hetero.graph.model import checked_model
from hetero.graph.rt_info import METADATA
from hetero.passes.compression.fp16_compression import compress_to_f16
from hetero.passes.upgrade_opset import upgrade_opset
from hetero.system.errors import FrontendError
from hetero.system.files import atomic_write

# The newest version that ONNX Runtime 1.32 reads.
IR_VERSION = 13
# protobuf's limit on the size of a message, less some space for the nodes.
_MAX_BYTES = 2**31 - 2**26
# Maximum number of node names in a message.
_MAX_NAMES = 3


def save_onnx(model: Model, output_model: str | os.PathLike[str], compress_to_fp16: bool = False) -> None:
    """Write a model to an .onnx file.

    With ``compress_to_fp16``, f32 and f64 constants are stored as f16 if they fit; see ``compress_to_f16``. Raises
    FrontendError if ONNX cannot express an operation, or if the file cannot be written; no half-written file is left.
    """
    path = Path(output_model)
    proto = model_proto(compress_to_f16(checked_model(model)) if compress_to_fp16 else model)
    try:
        with atomic_write(path) as (file,):
            file.write(proto.SerializeToString())
    except OSError as error:
        raise FrontendError(f"the model cannot be written to {path}: {error.strerror}") from error


def model_proto(model: Model) -> ModelProto:
    """Return a model as a ModelProto. Raises one FrontendError, which lists all operations that ONNX does not have."""
    model = checked_model(model).clone()
    for body in [model, *(body for node in walk_nested(model.get_ordered_ops()) for body in node.bodies)]:
        upgrade_opset(body)
    shared = SharedState()
    graph = GraphWriter(shared, model.friendly_name).write_model(model)
    if shared.refused:
        listed = "; ".join(f"{what} ({_describe_nodes(names)})" for what, names in shared.refused.items())
        raise FrontendError(f"ONNX has no equivalent of {listed}")
    size = sum(len(tensor.raw_data) for tensor in graph.initializer)
    if size > _MAX_BYTES:
        raise FrontendError(f"its constants take {size / 1e9:.1f} GB, but an ONNX file holds only 2 GB")
    proto = ModelProto(ir_version=IR_VERSION, producer_name="hetero", graph=graph)
    for domain in sorted(shared.domains):
        proto.opset_import.add(domain=domain, version=OPSETS[domain])
    for key, value in model.rt_info.get(METADATA, {}).items():
        if isinstance(value, str):
            proto.metadata_props.add(key=key, value=value)
    return proto


def _describe_nodes(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ("nodes " if len(names) > 1 else "node ") + ", ".join(names[:_MAX_NAMES]) + more
