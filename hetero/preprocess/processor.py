"""PrePostProcessor: inserts preprocessing and postprocessing into a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hetero.graph import Model, Output
from hetero.preprocess.input_info import InputInfo
from hetero.preprocess.output_info import OutputInfo
from hetero.system.errors import ArgumentTypeError, GraphError

Info = TypeVar("Info")


class PrePostProcessor:
    """Preprocessing and postprocessing of a model.

    Set up each ``input()`` and ``output()``, then ``build()`` inserts ordinary operations into the model, which run on
    any device. ``str()`` lists the steps, with types, layouts and shapes.
    """

    def __init__(self, model: Model) -> None:
        if not isinstance(model, Model):
            raise ArgumentTypeError(f"PrePostProcessor takes a Model, not {model!r}")
        self._model = model
        self._inputs = [InputInfo(model, index) for index in range(len(model.inputs))]
        self._outputs = [OutputInfo(result) for result in model.results]

    def input(self, tensor_name: str | int | None = None, *, input_index: int | None = None) -> InputInfo:
        """Return an input by tensor name or index, or the only one. Raises GraphError if there is no such input."""
        key = tensor_name if input_index is None else input_index
        return _find(self._inputs, self._model.inputs, key, "input", self._model)

    def output(self, tensor_name: str | int | None = None, *, output_index: int | None = None) -> OutputInfo:
        """Return an output by tensor name or index, or the only one. Raises GraphError if there is no such output."""
        key = tensor_name if output_index is None else output_index
        return _find(self._outputs, self._model.outputs, key, "output", self._model)

    def build(self) -> Model:
        """Insert the steps into the model, and return it.

        Raises GraphError if they do not fit, and what a custom step raises. The model then stays as it was.
        """
        restore = _restorer(self._model)
        try:
            for input_info in self._inputs:
                input_info.build()
            self._model.validate_nodes_and_infer_types()
            for output_info in self._outputs:
                output_info.build()
        except Exception:  # a custom step may raise anything
            restore()
            raise
        return self._model

    def __str__(self) -> str:
        text: list[str] = []
        try:
            for input_info in self._inputs:
                input_info.describe(text)
            for output_info in self._outputs:
                output_info.describe(text)
        except GraphError as error:
            text.append(f"\nError occurred: {error}\n")
        return "".join(text)

    def __repr__(self) -> str:
        return f"<PrePostProcessor: {self}>"


def _find(infos: Sequence[Info], ports: Sequence[Output], key: str | int | None, kind: str, model: Model) -> Info:
    if key is not None and (not isinstance(key, (str, int)) or (isinstance(key, int) and key < 0)):
        raise ArgumentTypeError(f"an {kind} is chosen by a tensor name or an index from 0, not by {key!r}")
    if key is None and len(infos) == 1:
        return infos[0]
    if isinstance(key, int) and key < len(infos):
        return infos[key]
    for info, port in zip(infos, ports):
        if key in port.names:
            return info
    named = ", ".join(f"{index}: {'/'.join(sorted(port.names))}" for index, port in enumerate(ports))
    problem = f"has no {kind} {key}" if key is not None else f"has {len(infos)} {kind}s, choose one by index or name"
    raise GraphError(f"model '{model.friendly_name}' {problem}: {named or 'none'}")


def _restorer(model: Model) -> Callable[[], None]:
    """Return a function that restores the model's inputs and the sources of what reads inputs and outputs."""
    parameters, results = model.parameters, model.results
    sources = [parameter.output(0) for parameter in parameters] + [result.input_value(0) for result in results]
    state = [(source, source.get_target_inputs(), set(source.own_names), dict(source.rt_info)) for source in sources]

    def restore() -> None:
        for parameter in model.parameters:
            model.remove_parameter(parameter)
        model.add_parameters(parameters)
        for source, readers, names, rt_info in state:
            for reader in source.get_target_inputs():
                source.remove_target_input(reader)
            for reader in readers:
                reader.replace_source_output(source)
            source.own_names = names
            source.rt_info.clear()
            source.rt_info.update(rt_info)
        model.validate_nodes_and_infer_types()

    return restore
