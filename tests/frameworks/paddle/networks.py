"""Networks with random weights, as PaddlePaddle's own models and in the style of PP-OCR, PP-LCNet and PP-YOLOE."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import paddle
from paddle import nn
from paddle.nn import functional
from paddle.static import InputSpec
from paddle.vision import models


class Network(NamedTuple):
    """A layer, and the shapes of its inputs: -1 for a dynamic length. ``examples``: the shapes to try."""

    layer: nn.Layer
    shapes: list[list[int]]
    examples: list[list[tuple[int, ...]]]

    def specs(self) -> list[InputSpec]:
        return [InputSpec(shape, "float32", f"x{index}") for index, shape in enumerate(self.shapes)]

    def inputs(self) -> list[list[np.ndarray]]:
        generator = np.random.default_rng(0)
        return [[generator.uniform(0, 1, shape).astype(np.float32) for shape in shapes] for shapes in self.examples]


class DepthwiseBlock(nn.Layer):
    """A block of PP-LCNet: depthwise and pointwise convolutions, with weights of channels between them."""

    def __init__(self, channels: int, results: int, stride: int, excites: bool) -> None:
        super().__init__()
        self.depthwise = nn.Conv2D(channels, channels, 3, stride, 1, groups=channels, bias_attr=False)
        self.norm1, self.norm2 = nn.BatchNorm2D(channels), nn.BatchNorm2D(results)
        self.pointwise = nn.Conv2D(channels, results, 1, bias_attr=False)
        self.squeeze = nn.Conv2D(channels, channels // 4, 1) if excites else None
        self.excite = nn.Conv2D(channels // 4, channels, 1) if excites else None

    def forward(self, x):
        x = functional.hardswish(self.norm1(self.depthwise(x)))
        if self.squeeze is not None:
            weights = functional.relu(self.squeeze(functional.adaptive_avg_pool2d(x, 1)))
            x = x * functional.hardsigmoid(self.excite(weights))
        return functional.hardswish(self.norm2(self.pointwise(x)))


class LightClassifier(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2D(3, 16, 3, 2, 1, bias_attr=False), nn.BatchNorm2D(16), nn.Hardswish())
        self.blocks = nn.Sequential(
            DepthwiseBlock(16, 32, 2, False), DepthwiseBlock(32, 32, 1, False), DepthwiseBlock(32, 64, 2, True)
        )  # fmt: skip
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        x = functional.adaptive_avg_pool2d(self.blocks(self.stem(x)), 1)
        x = functional.dropout(x, 0.2, training=self.training)
        return functional.softmax(self.head(paddle.flatten(x, 1)))


class Recognizer(nn.Layer):
    """Text recognition of PP-OCR: a convolutional network, an LSTM over columns, and classes of characters."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone = nn.Sequential(
            DepthwiseBlock(3 * 4, 32, 2, False), nn.MaxPool2D(2, (2, 1), 0), DepthwiseBlock(32, 48, (2, 1), True)
        )  # fmt: skip
        self.stem = nn.Conv2D(3, 12, 3, 2, 1)
        self.lstm = nn.LSTM(48, 24, num_layers=2, direction="bidirectional")
        self.head = nn.Linear(48, 20)

    def forward(self, x):
        x = self.backbone(self.stem(x))
        x = paddle.squeeze(functional.adaptive_avg_pool2d(x, (1, 20)), axis=2)
        x, _ = self.lstm(paddle.transpose(x, [0, 2, 1]))
        return functional.softmax(self.head(x), axis=2)


class TextDetector(nn.Layer):
    """Text detection of PP-OCR: a pyramid of features, joined and enlarged to a map of probabilities."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2D(3, 16, 3, 2, 1)
        self.levels = nn.LayerList([DepthwiseBlock(16, 16, 2, False), DepthwiseBlock(16, 16, 2, True)])
        self.lateral = nn.LayerList([nn.Conv2D(16, 16, 1) for _ in range(3)])
        self.up1, self.up2 = nn.Conv2DTranspose(48, 8, 2, 2), nn.Conv2DTranspose(8, 1, 1, 1)
        self.norm = nn.BatchNorm2D(8)

    def forward(self, x):
        features = [self.stem(x)]
        for level in self.levels:
            features.append(level(features[-1]))
        merged = [lateral(feature) for lateral, feature in zip(self.lateral, features)]
        merged[1] = merged[1] + functional.upsample(merged[2], scale_factor=2, mode="nearest", align_mode=1)
        merged[0] = merged[0] + functional.upsample(merged[1], scale_factor=2, mode="nearest", align_mode=1)
        merged[1] = functional.upsample(merged[1], scale_factor=2, mode="nearest", align_mode=1)
        merged[2] = functional.upsample(merged[2], scale_factor=4, mode="nearest", align_mode=1)
        x = functional.relu(self.norm(self.up1(paddle.concat(merged, axis=1))))
        return functional.sigmoid(self.up2(x))


class Segmenter(nn.Layer):
    """Segmentation in the style of PP-HumanSeg: classes enlarged to the size of the input."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2D(3, 16, 3, 2, 1)
        self.block, self.head = DepthwiseBlock(16, 24, 2, True), nn.Conv2D(24, 2, 1)

    def forward(self, x):
        y = self.head(self.block(self.stem(x)))
        y = functional.interpolate(y, paddle.shape(x)[2:], mode="bilinear", align_corners=False)
        return paddle.argmax(functional.softmax(y, axis=1), axis=1, dtype="int32"), y


class Detector(nn.Layer):
    """A head of PP-YOLOE: distributions of distances from anchor points, and suppression of boxes."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.block = nn.Conv2D(3, 16, 3, 4, 1), DepthwiseBlock(16, 32, 2, True)
        self.score, self.distance = nn.Conv2D(32, 4, 3, padding=1), nn.Conv2D(32, 4 * 8, 3, padding=1)

    def forward(self, x):
        feature = self.block(self.stem(x))
        rows, columns = feature.shape[2], feature.shape[3]
        y, x = paddle.meshgrid(paddle.arange(rows) + 0.5, paddle.arange(columns) + 0.5)
        points = paddle.stack([x, y], axis=-1).astype("float32").reshape([-1, 2])
        scores = functional.sigmoid(self.score(feature)).flatten(2)
        distances = self.distance(feature).flatten(2).transpose([0, 2, 1]).reshape([0, rows * columns, 4, 8])
        distances = functional.softmax(distances, axis=-1).matmul(paddle.arange(8).astype("float32"))
        before, after = paddle.split(distances, 2, axis=-1)
        boxes = paddle.concat([points - before, points + after], axis=-1) * 8.0
        selected, _, _ = paddle.vision.ops.matrix_nms(boxes, scores, 0.05, 0.05, 20, 10, background_label=-1,
                                                          return_index=True)  # fmt: skip
        return boxes, scores, selected


class Encoder(nn.Layer):
    """Two layers of a transformer over embedded numbers."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 2, 32, activation="gelu")
        self.encoder, self.head = nn.TransformerEncoder(layer, 2), nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.encoder(x))


class Branches(nn.Layer):
    """A condition with two results, and a loop, both on numbers that are computed."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        if x.mean() > 0.5:
            y, z = self.linear(x), x * 2
        else:
            y, z = x - 1, x + x
        count = paddle.zeros([1], "int32")
        while z.abs().sum() < 100:
            z, count = z * 2, count + 1
        return y, z, count


def networks() -> dict[str, Callable[[], Network]]:
    """Return functions that create the networks, by name."""
    image, dynamic = [[-1, 3, 64, 64]], [[-1, 3, -1, -1]]

    def of(layer: Callable[[], nn.Layer], shapes: list[list[int]], *examples: Sequence[tuple[int, ...]]):
        return lambda: Network(layer(), shapes, [list(example) for example in examples])

    two = [(1, 3, 64, 64)], [(2, 3, 64, 64)]
    vision = {
        name: of(lambda name=name: getattr(models, name)(), image, *two)
        for name in ("resnet18", "resnet50", "mobilenet_v1", "mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large",
                     "shufflenet_v2_x1_0", "squeezenet1_1", "densenet121", "resnext50_32x4d")
    }  # fmt: skip
    vision["vgg11"] = of(models.vgg11, image, *two)
    return vision | {
        "light_classifier": of(LightClassifier, dynamic, [(1, 3, 64, 64)], [(2, 3, 48, 80)]),
        "recognizer": of(Recognizer, [[-1, 3, 32, -1]], [(1, 3, 32, 80)], [(3, 3, 32, 120)]),
        "text_detector": of(TextDetector, dynamic, [(1, 3, 64, 64)], [(2, 3, 32, 96)]),
        "segmenter": of(Segmenter, dynamic, [(1, 3, 64, 64)], [(2, 3, 32, 96)]),
        "detector": of(Detector, [[1, 3, 64, 64]], [(1, 3, 64, 64)]),
        "encoder": of(Encoder, [[-1, -1, 16]], [(1, 5, 16)], [(2, 7, 16)]),
        "branches": of(Branches, [[3, 4]], [(3, 4)], [(3, 4)]),
    }
