"""Preprocessing and postprocessing: steps that become operations before a model's inputs and after its outputs."""

from hetero.preprocess.formats import ColorFormat, PaddingMode, ResizeAlgorithm
from hetero.preprocess.input_info import InputInfo, InputModelInfo, InputTensorInfo
from hetero.preprocess.output_info import OutputInfo, OutputModelInfo, OutputTensorInfo
from hetero.preprocess.processor import PrePostProcessor
from hetero.preprocess.steps import PostProcessSteps, PreProcessSteps

__all__ = [
    "ColorFormat", "InputInfo", "InputModelInfo", "InputTensorInfo", "OutputInfo", "OutputModelInfo",
    "OutputTensorInfo", "PaddingMode", "PostProcessSteps", "PrePostProcessor", "PreProcessSteps", "ResizeAlgorithm",
]  # fmt: skip
