"""The brightness of images: the request and its answers."""

from __future__ import annotations

from workbench.protocol.bases import Answer, FinalAnswer, Request


class ImageMeasured(Answer, frozen=True, kw_only=True, tag="image_measured"):
    """Mean of an image's values, 0..255."""

    file: str
    mean: float


class BrightnessMeasured(FinalAnswer, frozen=True, kw_only=True, tag="brightness_measured"):
    """Mean over the images, 0..255."""

    mean: float


class MeasureBrightness(Request, frozen=True, kw_only=True, tag="measure_brightness"):
    """Answers: one ImageMeasured per image file, then BrightnessMeasured."""

    final_answer = BrightnessMeasured
    partial_answers = (ImageMeasured,)

    files: list[str]
