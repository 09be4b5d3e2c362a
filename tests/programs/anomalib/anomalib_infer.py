"""anomalib: fits PaDiM on features of a ResNet of random weights, exports it, and finds anomalies by its inferencer."""

import sys

import tests.frameworks.pytorch  # noqa: F401 lets torchvision import without CUDA

# isort: split
import numpy as np
import torch
from anomalib.deploy import OpenVINOInferencer
from anomalib.models import Padim

torch.manual_seed(0)
model = Padim(
    backbone="resnet18", layers=["layer1", "layer2"], pre_trained=False, n_features=20,
    pre_processor=Padim.configure_pre_processor((64, 64)),
)  # fmt: skip
model.model.train()
for _ in range(4):
    model.model(torch.randn(8, 3, 64, 64))
model.model.fit()
model.eval()
inferencer = OpenVINOInferencer(model.to_openvino("exported", input_size=(64, 64)), device="CPU")
pictures = np.random.default_rng(0).random((2, 64, 64, 3), np.float32)
pictures[1, 20:30, 20:30] = 5
found = [inferencer.predict(picture) for picture in pictures]
np.savez(
    sys.argv[1],
    scores=np.array([np.ravel(result.pred_score) for result in found], np.float32),
    maps=np.array([np.squeeze(result.anomaly_map) for result in found], np.float32),
)
