"""Heat maps of a model: where in an image the evidence for a class is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from PIL import Image

from workbench.core.projects.project_file import graph_from_plain
from workbench.errors import UsageError
from workbench.inference.runner import Labels, Pixels
from workbench.layers import all_layers
from workbench.protocol.trained.explain import Method
from workbench.worker.explain.occlusion import LEAST_DROP, occlusion_drops
from workbench.worker.explain.places import find_places
from workbench.worker.explain.slopes import Slopes, compile_slopes
from workbench.worker.saved_models.keras_runner import KerasRunner

Maps = np.ndarray[Any, np.dtype[np.float32]]

OnProgress = Callable[[float], None]
"""Called with the fraction done, 0..1; may raise to stop."""

_KEY = "explainer"

_NOISY_COPIES = 16
_NOISE = 0.1 * 255
"""Standard deviation of SmoothGrad's noise: a tenth of the range of pixel values."""

_TRIED = (3, 3, 2)
"""So many layers of the last size, of the one before and of the third, the last of each: a batch of
eight. On photos of flowers the hottest tenth of the best map counted on 95% of them with pretrained
EfficientNet-Lite0, on 90% with its last eight layers, on 57% with the last one."""

GRAY = 127
"""What is put over the hottest places: the middle of the range of values."""

_MOST_PERCENT = 99.0
"""A few single pixels of a gradient are far above all others and count as this percentile, as in
the paper on SmoothGrad."""

_LEAST_SHARE = 1e-6
"""A map is empty where nothing in it is above this share of what is below 0: rounding."""


@dataclass(frozen=True)
class Explanation:
    """Heat maps of n images.

    Attributes:
        heat: float32 (n, height, width) of the model's input, 0..1; the hottest place of each map
            is 1, or all of it 0.
        method: The one that was used.
        layers: For each image the names of the layers that were looked at; none for occlusion.
    """

    heat: Maps
    method: Method
    layers: tuple[tuple[str, ...], ...]


class Explainer:
    """Explains the answers of a model; each method is compiled on first use."""

    def __init__(self, runner: KerasRunner) -> None:
        self._runner = runner
        self._graph = graph_from_plain(runner.card.graph, runner.card.title)
        self.places = find_places(self._graph, all_layers(), runner.built.layers)
        self._size = tuple(runner.card.input_shape[:2])
        self._compiled: dict[tuple[tuple[str, ...], bool], Slopes] = {}
        self._passages = self._tried()

    def explain(
        self,
        x: Pixels,
        classes: Labels,
        method: Method = "gradcam",
        *,
        layers: Sequence[str] = (),
        on_progress: OnProgress = lambda _fraction: None,
    ) -> Explanation:
        """The maps of images, each for a class.

        Args:
            x: uint8 (n, height, width, channels), fitted to the model.
            classes: Numbers of the classes, int64 (n,).
            method: Grad-CAM (Selvaraju et al. 2017) shows gradients instead where the network has
                no convolution; gradients are those of SmoothGrad (Smilkov et al. 2017); occlusion
                is that of Zeiler and Fergus (2014).
            layers: Names of the layers that Grad-CAM looks at; none to choose for each image the
                one whose map matters most: graying out its hottest tenth lowers the probability
                of the class most.
            on_progress: Called now and then.

        Raises:
            UsageError: there is no such layer, or its output has no places of the image.
            RunError: the model's answer is not finite.
        """
        has_convolution = bool(layers or self.places.last)
        used: Method = "gradients" if method == "gradcam" and not has_convolution else method
        pairs = list(zip(x, classes.tolist(), strict=True))
        if used == "occlusion":
            each = partial(occlusion_drops, self._runner, on_progress=on_progress)
            maps = [each(image, number) for image, number in pairs]
            return Explanation(_scaled(maps, least=LEAST_DROP), used, ((),) * len(x))
        if used == "gradients":
            at = self._starts()
            heat = _scaled([self._smooth_gradient(at, image, number) for image, number in pairs])
            return Explanation(heat, used, (self._names(at),) * len(x))
        return self._grad_cam(x, classes, layers)

    def _grad_cam(self, x: Pixels, classes: Labels, layers: Sequence[str]) -> Explanation:
        if layers:
            at = [self._chosen(layer) for layer in layers]
            heat = _scaled(self._cam(at, x, classes))
            return Explanation(heat, "gradcam", (self._names(at),) * len(x))
        pairs = zip(x, classes.tolist(), strict=True)
        choices = [self._by_deletion_test(image, number) for image, number in pairs]
        heat = np.stack([one for one, _ in choices])
        return Explanation(heat, "gradcam", tuple(self._names(at) for _, at in choices))

    @property
    def last_layers(self) -> tuple[str, ...]:
        """Names of the layers that hold what the last convolution gives, one for each way to the
        scores; none without a convolution.
        """
        return self._names(self.places.last)

    def _tried(self) -> tuple[str, ...]:
        """The passages that Grad-CAM is tried at, in the order of the graph."""
        by_size: dict[tuple[int, ...], list[str]] = {}
        for key in reversed(self.places.passages):
            by_size.setdefault(self.places.planes[key][:2], []).append(key)
        pairs = zip(by_size.values(), _TRIED, strict=False)
        chosen = {key for keys, count in pairs for key in keys[:count]}
        return tuple(key for key in self.places.passages if key in chosen)

    def _names(self, at: Sequence[str]) -> tuple[str, ...]:
        return tuple(self._graph.nodes[key].name for key in at)

    def _by_deletion_test(self, image: Pixels, number: int) -> tuple[Maps, Sequence[str]]:
        """The map, of those at different depths, that wins a deletion test, and the layers that it
        was computed at: with its hottest tenth grayed out the class loses most probability. The
        deepest of equal ones.
        """
        maps = self.maps_at_passages(image, number)
        if self.places.last != self._passages[-1:]:
            (one,) = self._cam(self.places.last, image[None], np.array([number]))
            maps = [(one, self.places.last), *maps]
        heat = _scaled([one for one, _ in maps])
        if len(maps) == 1:
            return heat[0], maps[0][1]
        covered = np.stack([grayed(image, hottest(one)) for one in heat])
        left = self._runner.predict(covered)[:, number]
        left[~heat.any(axis=(1, 2))] = np.inf
        best = int(left.argmin())
        return heat[best], maps[best][1]

    def maps_at_passages(self, image: Pixels, number: int) -> list[tuple[Maps, Sequence[str]]]:
        """The maps at each passage, the deepest first."""
        if not self._passages:
            return []
        values, slopes = self._slopes(
            self._passages, image[None], np.array([number]), is_chain=True
        )
        each = zip(self._passages, values, slopes, strict=True)
        maps: list[tuple[Maps, Sequence[str]]] = []
        for key, value, slope in each:
            maps.append((self._weighted(value, slope)[0], (key,)))
        return maps[::-1]

    def _chosen(self, layer: str) -> str:
        names = {self._graph.nodes[key].name: key for key in self.places.planes}
        if layer in names:
            return names[layer]
        raise UsageError(
            "There is no layer of this name whose output is laid out as the image is.",
            received=layer,
            expected=", ".join(names),
        )

    def _cam(self, at: Sequence[str], x: Pixels, classes: Labels) -> list[Maps]:
        values, slopes = self._slopes(at, x, classes)
        return list(sum(map(self._weighted, values, slopes), np.zeros((len(x), *self._size))))

    def _weighted(self, values: Maps, slopes: Maps) -> Maps:
        """Grad-CAM at one place, over the images: float32 (n, height, width)."""
        maps = np.einsum("nhwc,nc->nhw", values, slopes.mean(axis=(1, 2)))
        # Sums over all places are shares of the score: so they stay at another resolution.
        share = np.float32(np.prod(maps.shape[1:]) / np.prod(self._size))
        return share * np.stack([_resized(one, self._size) for one in maps])

    def _starts(self) -> list[str]:
        """Nodes at which gradients end: at the image, and behind what has none."""
        stops = [key for key in self.places.stops if key in self.places.planes]
        return [self.places.input, *stops]

    def _smooth_gradient(self, at: Sequence[str], image: Pixels, number: int) -> Maps:
        noise = np.random.default_rng(0).normal(0, _NOISE, (_NOISY_COPIES, *image.shape))
        classes = np.full(_NOISY_COPIES, number, np.int64)
        _, slopes = self._slopes(at, image + np.float32(noise), classes)
        total = np.zeros(self._size, np.float32)
        for slope in slopes:
            total += _resized(np.abs(slope).max(axis=-1).mean(axis=0), self._size)
        return np.minimum(total, np.percentile(total, _MOST_PERCENT))

    def _slopes(
        self, at: Sequence[str], x: Maps | Pixels, classes: Labels, *, is_chain: bool = False
    ) -> tuple[list[Maps], list[Maps]]:
        key = tuple(at), is_chain
        if key not in self._compiled:
            built = self._runner.built
            self._compiled[key] = compile_slopes(
                self._graph, built, self.places, at, is_chain=is_chain
            )
        values, slopes = self._compiled[key](np.float32(x), np.int64(classes))
        # A gradient may be missing at single places, as of a square root at 0: it counts as none.
        arrays = [np.nan_to_num(each, posinf=0, neginf=0) for each in (*values, *slopes)]
        return arrays[: len(values)], arrays[len(values) :]


def explainer_of(runner: KerasRunner) -> Explainer:
    """The explainer of a model: one for as long as the model is kept."""
    kept: Explainer = runner.extras.setdefault(_KEY, None) or Explainer(runner)
    runner.extras[_KEY] = kept
    return kept


def hottest(heat: Maps, part: float = 0.1) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Mask of the hottest places of a map, bool (height, width), true for a part of them."""
    count = max(1, round(part * heat.size))
    found = np.zeros(heat.size, bool)
    found[np.argpartition(heat.ravel(), -count)[-count:]] = True
    return found.reshape(heat.shape)


def grayed(image: Pixels, places: np.ndarray[Any, np.dtype[np.bool_]]) -> Pixels:
    """An image (height, width, channels) with some places (height, width) in gray."""
    return np.where(places[..., None], np.uint8(GRAY), image)


def _resized(values: Maps, size: Sequence[int]) -> Maps:
    """A map float32 (h, w) stretched over an image (height, width), bilinear."""
    image = Image.fromarray(np.ascontiguousarray(values, np.float32))
    return np.asarray(image.resize((size[1], size[0]), Image.Resampling.BILINEAR))


def _scaled(maps: Sequence[Maps], *, least: float = 0.0) -> Maps:
    """What is above 0 in each map, by its largest value; 0 where that is not above `least`."""
    result = np.stack(maps).astype(np.float32)
    for one in result:
        top, most = float(one.max()), float(np.abs(one).max())
        np.maximum(one, 0, out=one)
        np.multiply(one, 1 / top if top > max(least, _LEAST_SHARE * most) else 0.0, out=one)
    return result
