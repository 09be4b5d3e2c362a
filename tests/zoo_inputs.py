"""Inputs for the models of the zoo: synthetic pictures, sounds and file contents."""

from __future__ import annotations

import numpy as np

Shape = tuple[int, ...]
Arrays = dict[str, np.ndarray]


def normal(generator: np.random.Generator, shape: Shape) -> np.ndarray:
    return generator.standard_normal(shape).astype(np.float32)


def text(generator: np.random.Generator, shape: Shape) -> np.ndarray:
    """Dark letters on a light, slightly noisy background, ``[N, 3, H, W]`` from -1 to 1.

    For noise alone, text recognition returns probabilities so small that rounding errors are large in comparison.
    """
    from PIL import Image, ImageDraw, ImageFont

    batch, _, height, width = shape
    font = ImageFont.load_default(min(height, 64) // 2)
    pages = []
    for _ in range(batch):
        page = Image.new("L", (width, height), 255)
        letters = "".join(generator.choice(list("ABCDEFGHKLMNPRSTXYZ23456789"), width // 16))
        ImageDraw.Draw(page).text((4, height // 2), letters, fill=0, font=font, anchor="lm")
        pages.append(np.asarray(page, np.float32) / 127.5 - 1)
    return (np.stack(pages)[:, None] + 0.05 * generator.standard_normal(shape)).astype(np.float32)


# Ellipses of a portrait: center, half width and half height relative to the picture, and color.
_PORTRAIT = (
    ((0.5, 1.0), (0.36, 0.3), (40, 60, 110)),
    ((0.5, 0.7), (0.09, 0.15), (190, 140, 110)),
    ((0.5, 0.36), (0.21, 0.29), (60, 40, 25)),
    ((0.5, 0.42), (0.18, 0.26), (224, 172, 140)),
    *(((0.5 + side, 0.38), (0.035, 0.02), (250, 250, 250)) for side in (-0.08, 0.08)),
    *(((0.5 + side, 0.38), (0.014, 0.018), (50, 30, 20)) for side in (-0.08, 0.08)),
    *(((0.5 + side, 0.33), (0.045, 0.01), (60, 40, 25)) for side in (-0.08, 0.08)),
    ((0.5, 0.47), (0.025, 0.03), (200, 145, 115)),
    ((0.5, 0.56), (0.06, 0.02), (180, 80, 80)),
)


def portrait(generator: np.random.Generator, shape: Shape) -> np.ndarray:
    """Head and shoulders before a colored background, ``[N, H, W, 3]`` from 0 to 1, close enough to a person."""
    from PIL import Image, ImageDraw

    batch, height, width, _ = shape
    pages = []
    for _ in range(batch):
        background = generator.integers(100, 230, (2, 2, 3)).astype(np.uint8)
        page = Image.fromarray(background).resize((width, height), Image.Resampling.BILINEAR)
        draw = ImageDraw.Draw(page)
        for (x, y), (wide, high), color in _PORTRAIT:
            box = ((x - wide) * width, (y - high) * height, (x + wide) * width, (y + high) * height)
            draw.ellipse(box, fill=color)
        pages.append(np.asarray(page, np.float32) / 255)
    return (np.stack(pages) + 0.02 * generator.standard_normal(shape)).clip(0, 1).astype(np.float32)


def centered_portrait(generator: np.random.Generator, shape: Shape) -> np.ndarray:
    """A portrait from -1 to 1."""
    return 2 * portrait(generator, shape) - 1


def file_bytes(generator: np.random.Generator, shape: Shape) -> np.ndarray:
    """Bytes of a file, where 256 stands for positions past its end."""
    return generator.integers(0, 257, shape, dtype=np.int32)


def sound(generator: np.random.Generator, shape: Shape) -> np.ndarray:
    """Tones with a little noise, from -1 to 1."""
    time = np.arange(shape[1], dtype=np.float32) / 16000
    pitch = generator.uniform(100, 1000, (shape[0], 1))
    wave = 0.4 * np.sin(2 * np.pi * pitch * time) + 0.05 * generator.standard_normal((shape[0], shape[1]))
    return wave.reshape(shape).astype(np.float32)


def voice_state(generator: np.random.Generator, shape: Shape) -> Arrays:
    state = 0.1 * generator.standard_normal((2, shape[0], 128))
    return {"state": state.astype(np.float32), "sr": np.array(16000, np.int64)}


def sound_features(generator: np.random.Generator, shape: Shape) -> np.ndarray:
    """Loudness of frequency bands, ``[1, time, bands]`` as int8 with silence at -128; lower bands are louder."""
    loudness = generator.uniform(0, 250) * np.exp(-np.arange(shape[2]) / 15)
    return (loudness + 20 * generator.standard_normal(shape) - 128).clip(-128, 127).astype(np.int8)
