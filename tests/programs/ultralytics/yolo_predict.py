"""ultralytics: exports a YOLO of random weights to OpenVINO, and predicts with the exported model."""

import os
import sys

import tests.frameworks.pytorch  # noqa: F401 lets torchvision import without CUDA

# isort: split
os.environ |= {"YOLO_CONFIG_DIR": os.getcwd(), "YOLO_OFFLINE": "true", "YOLO_AUTOINSTALL": "false"}

import numpy as np
import torch
import torchvision
from ultralytics import YOLO
from ultralytics.utils.nms import TorchNMS

torch.manual_seed(0)
model = YOLO("yolo11n.yaml")
for module in model.model.modules():  # one batch in training keeps the activations of random weights from vanishing
    if isinstance(module, torch.nn.BatchNorm2d):
        module.momentum = 1.0
model.model.train()(torch.rand(4, 3, 96, 96))
head = model.model.model[-1]
for branch in (*head.cv2, *head.cv3):  # boxes and scores that are not at their limits
    branch[-1].weight.data.mul_(0.1)
for branch in head.cv3:  # a new network finds nothing
    branch[-1].bias.data.fill_(-1)
folder = model.export(format="openvino", imgsz=96)
torchvision.ops.nms = TorchNMS.nms  # that of torchvision may need CUDA
picture = np.random.default_rng(0).integers(0, 256, (96, 96, 3), np.uint8)
(found,) = YOLO(folder, task="detect").predict(picture, imgsz=96, conf=0.2, max_det=20, device="cpu", verbose=False)
np.savez(sys.argv[1], boxes=found.boxes.xyxy.numpy(), scores=found.boxes.conf.numpy(), classes=found.boxes.cls.numpy())
