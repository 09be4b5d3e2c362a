"""openvino-model-api: embeds preprocessing in a classifier, and classifies pictures, one by one and queued."""

import sys

import numpy as np
import openvino as ov
from model_api.models import ClassificationModel
from openvino import opset13 as ops

random = np.random.default_rng(0)
image = ops.parameter([1, 3, 48, 48], np.float32, name="image")
image.output(0).set_names({"image"})
x = ops.convolution(image, random.normal(0, 0.2, (8, 3, 3, 3)).astype(np.float32), [2, 2], [0, 0], [0, 0], [1, 1])
x = ops.reduce_mean(ops.relu(x), [2, 3])
logits = ops.matmul(x, random.normal(0, 1, (5, 8)).astype(np.float32), False, True)
logits.output(0).set_names({"logits"})
network = ov.Model([logits], [image], "classifier")
labels = {"model_type": "Classification", "labels": "ant bee cat dog elk", "mean_values": "120", "scale_values": "60",
          "topk": "3", "output_raw_scores": "True"}  # fmt: skip
for key, value in labels.items():
    network.set_rt_info(value, ["model_info", key])
ov.save_model(network, "classifier.xml")

model = ClassificationModel.create_model("classifier.xml", device="CPU")
pictures = [random.integers(0, 256, (60, 80, 3), np.uint8) for _ in range(4)]
alone = [model(picture) for picture in pictures]
queued = model.infer_batch(pictures)
np.savez(
    sys.argv[1],
    names=np.array([[label.name for label in result.top_labels] for result in alone + queued]),
    confidences=np.array([[label.confidence for label in result.top_labels] for result in alone + queued]),
    scores=np.array([result.raw_scores for result in alone + queued]),
)
