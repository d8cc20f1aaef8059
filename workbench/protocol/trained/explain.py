"""Why a model gives a class its score: heat maps of an image."""

from __future__ import annotations

from typing import Literal, get_args

from workbench.protocol.bases import FinalAnswer, Request

Method = Literal["gradcam", "occlusion", "gradients"]

METHODS: tuple[Method, ...] = get_args(Method)


class Explained(FinalAnswer, frozen=True, kw_only=True, tag="explained"):
    """Answer to Explain. PNG files are in the worker's session folder.

    Attributes:
        file: The image file.
        class_name: The class that is explained.
        probability: Probability of that class, 0..1.
        method: The one that was used.
        layers: Names of the layers that were looked at; none for occlusion.
        note: What has to be known to read the map, as that it is empty; "" for nothing.
        milliseconds: Took decoding and computing.
        heat_png: The map over the whole image as levels of `pictures.heat`, at most 640 pixels
            large.
        overlay_png: The image with the map over it; "" where it was not requested.
        check_png: As `heat_png`, with random weights; "" where it was not requested.
        correlation: Spearman's rank correlation of the two maps, -1..1; None without the second,
            and where one of them is the same everywhere.
    """

    file: str
    class_name: str
    probability: float
    method: Method
    layers: list[str]
    note: str = ""
    milliseconds: float = 0.0
    heat_png: str = ""
    overlay_png: str = ""
    check_png: str = ""
    correlation: float | None = None


class Explain(Request, frozen=True, kw_only=True, tag="explain"):
    """Makes a heat map of an image.

    Attributes:
        model: Path of a run folder or of a `.keras` file exported by the application.
        picture: Path of an image file.
        class_name: The class in question; "" for the most probable one.
        method: "gradcam" shows gradients where the network has no convolution.
        layer: Name of the layer that Grad-CAM looks at; "" to choose it.
        at_last: Grad-CAM looks at what the last convolution gives, the same for each image.
        with_overlay: Also write the image with the map over it.
        with_check: Also make the map that the method gives with random weights.
    """

    final_answer = Explained
    handler = "trained.explain"

    model: str
    picture: str
    class_name: str = ""
    method: Method = "gradcam"
    layer: str = ""
    at_last: bool = False
    with_overlay: bool = False
    with_check: bool = False
