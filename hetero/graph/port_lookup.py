"""Search for a port of a model by index, name or port, and the texts about ports."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.graph.port import Output
from hetero.system.errors import ArgumentTypeError, GraphError
from hetero.system.messages import escaped

PortKey = int | str | Output


def describe_ports(title: str, inputs: Sequence[Output], outputs: Sequence[Output]) -> str:
    """Return the text of a model: its title and its ports, one a line."""
    read, computed = (
        ",\n".join(escaped(f"<ConstOutput: {port.description()}>") for port in ports) for ports in (inputs, outputs)
    )
    return f"<{title}\ninputs[\n{read}\n]\noutputs[\n{computed}\n]>"


def find_port(
    ports: Sequence[Output], key: PortKey | None, problem: str, index_error: type[GraphError] = GraphError
) -> Output:
    """Return a port by index, name or port, or the only one.

    Raises GraphError, or ``index_error`` for an index, with a message that begins with ``problem`` if there is none.
    """
    if key is None:
        if len(ports) == 1:
            return ports[0]
        raise GraphError(f"{problem} by default: it has {len(ports)}, choose one by index or name")
    if isinstance(key, Output):
        if key in ports:
            return key
        # A port of the model that this one was compiled from has the same names.
        for port in ports:
            if key.names and key.names & port.names:
                return port
    elif isinstance(key, int):
        if -len(ports) <= key < len(ports):
            return ports[key]
    elif not isinstance(key, str):
        raise ArgumentTypeError(f"an input or output is found by index, name or port, not by {key!r}")
    else:
        for port in ports:
            if key in port.names or key == port.node.friendly_name:
                return port
    known = ", ".join(port_name(port) for port in ports)
    error = index_error if isinstance(key, int) else GraphError
    raise error(f"{problem} {key}: it has {known or 'none'}")


def port_name(port: Output) -> str:
    """Return the name of a port in messages: a tensor name, or the node's name if it has none."""
    return port.any_name if port.names else port.node.friendly_name
