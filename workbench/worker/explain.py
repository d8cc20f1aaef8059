"""Why a model gives a class its score: Grad-CAM, gradients and occlusion as heat maps, and the
check of a method against random weights.

Works for any network that can be built, by the graph and the layers of a saved model; no layer type
is named here. Grad-CAM is tried at the places that all ways to the scores pass. The map shown is
the one whose hottest tenth, grayed out, costs the most probability; or that of the last
convolution, where the user asks for it to compare pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from PIL import Image

from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Graph
from workbench.core.network.roles import Layers, find_outputs, input_nodes, tail
from workbench.core.projects.project_file import graph_from_plain
from workbench.core.specs import Shape
from workbench.errors import UsageError
from workbench.inference.runner import Labels, Pixels
from workbench.layers import all_layers
from workbench.protocol.trained.explain import Method
from workbench.worker.model.build import BuiltModel, named_variables
from workbench.worker.process.lazy_keras import keras, tf
from workbench.worker.saved_models.keras_runner import KerasRunner

# occlusion -----------------------------------------------------------------------------------
# Occlusion: how much a class loses when a part of the image is covered.

Maps = np.ndarray[Any, np.dtype[np.float32]]

_PATCHES = 7
"""So many patches cover a side: small enough to show places, large enough to hide a thing."""

LEAST_DROP = 0.001
"""A patch that lowers the probability by less has no part in the answer."""

_AT_ONCE = 32


def occlusion_drops(
    runner: KerasRunner, image: Pixels, number: int, *, on_progress: Callable[[float], None]
) -> Maps:
    """By how much the probability of a class falls, on average over the patches that cover a place.

    A patch has the image's mean color and is moved by half its size.

    Args:
        runner: The model.
        image: uint8 (height, width, channels), fitted to the model.
        number: Number of the class.
        on_progress: Called with the fraction done, 0..1, before each step; may raise to stop.

    Returns:
        float32 (height, width); below 0 where covering a place raises the probability.
    """
    height, width = image.shape[:2]
    patches = list(product(_spans(height), _spans(width)))
    fill = image.mean(axis=(0, 1)).round().astype(np.uint8)
    whole = float(runner.predict(image[None])[0, number])
    total, times = np.zeros((height, width)), np.zeros((height, width))
    for done in range(0, len(patches), _AT_ONCE):
        on_progress(done / len(patches))
        some = patches[done : done + _AT_ONCE]
        covered = np.repeat(image[None], len(some), axis=0)
        for copy, place in zip(covered, some, strict=True):
            copy[place] = fill
        drops = whole - runner.predict(covered)[:, number]
        for place, drop in zip(some, drops, strict=True):
            total[place] += drop
            times[place] += 1
    return (total / times).astype(np.float32)


def _spans(side: int) -> Iterator[slice]:
    """Overlapping spans of one length that cover a side to its end."""
    length = max(1, -(-side // _PATCHES))
    step = max(1, length // 2)
    for start in range(0, side - length, step):
        yield slice(start, start + length)
    yield slice(side - length, side)


# places --------------------------------------------------------------------------------------
# Nodes of a network at which the picture still is a plane: what Grad-CAM and gradients look at.

_KERNEL_RANK = 4
"""A convolution's kernel has the axes height, width, channels in and channels out."""


@dataclass(frozen=True)
class Places:
    """Nodes of a network, by id.

    Attributes:
        input: Where the images come in.
        score: The layer that makes the scores of the classes: what is behind it only changes
            values, as a softmax does.
        planes: Nodes whose output is a plane that lies on the picture, in the order of the graph,
            each with its shape (height, width, channels).
        last: The last of these on each way to the scores that has a convolution before it: what
            is known of each place of the picture at the end. Empty without a convolution.
        passages: Planes that all ways from the picture to the scores go through: of each
            convolution the last one before the next, in the order of the graph.
        stops: Nodes before the scores through which TensorFlow has no gradient.
    """

    input: str
    score: str
    planes: Mapping[str, Shape]
    last: tuple[str, ...]
    passages: tuple[str, ...]
    stops: tuple[str, ...]


def find_places(graph: Graph, layers: Layers, made: Mapping[str, Any]) -> Places:
    """The places of a network without errors.

    Args:
        graph: The network.
        layers: The layer types.
        made: Keras layer by node id.
    """
    start = input_nodes(graph, layers)[0].id
    score = tail(graph, layers, find_outputs(graph, layers)[0])[-1]
    way = graph.ancestors(score) | {score}
    found = Propagation(graph, layers)
    planes = _planes(graph, found.shapes, made, start)
    convolved = _convolutions_before(graph, made)
    last = [key for key in _last_planes(graph, score, planes) if convolved[key]]
    all_ways = [key for key in _passages(graph, start, way) if key in planes and convolved[key]]
    # A later one of as many convolutions replaces those before it: a convolution's activation it.
    passages = {convolved[key]: key for key in all_ways}
    stops = [
        key
        for key in graph.order
        if key in way and layers[graph.nodes[key].kind].stops_learning(found.params[key])
    ]
    return Places(start, score, planes, tuple(last), tuple(passages.values()), tuple(stops))


def _planes(
    graph: Graph, shapes: Mapping[str, Shape], made: Mapping[str, Any], start: str
) -> dict[str, Shape]:
    """Nodes whose output has places, each made of the picture around it; a plane made of a flat
    list of values has none that mean one in the picture.
    """
    planes: dict[str, Shape] = {}
    for key in graph.order:
        shape = shapes[key]
        if len(shape) != 3 or shape[0] * shape[1] == 1:
            continue
        sources = [planes[source] for source in graph.sources(key) if source in planes]
        if isinstance(made.get(key), keras.layers.Reshape):
            sources = [source for source in sources if source == shape]
        if key == start or sources:
            planes[key] = shape
    return planes


def _convolutions_before(graph: Graph, made: Mapping[str, Any]) -> dict[str, int]:
    """How many convolutions are before each node, itself among them."""
    ones = {
        key
        for key, layer in made.items()
        if any(len(each.shape) == _KERNEL_RANK for each in layer.weights)
    }
    return {key: len(ones & (graph.ancestors(key) | {key})) for key in graph.order}


def _passages(graph: Graph, start: str, way: AbstractSet[str]) -> list[str]:
    """Nodes that no way from the start to the end of `way` goes around, in order."""
    behind = graph.descendants(start) | {start}
    nodes = [key for key in graph.order if key in way and key in behind]
    at = {key: number for number, key in enumerate(nodes)}
    found, furthest = [], 0
    for number, key in enumerate(nodes):
        if furthest <= number:
            found.append(key)
        furthest = max([furthest, *(at[each] for each in graph.targets(key) if each in at)])
    return found


def _last_planes(graph: Graph, score: str, planes: Mapping[str, Shape]) -> list[str]:
    """Planes from which a way leads to the scores without another plane."""
    found, seen, waiting = set(), {score}, [score]
    while waiting:
        key = waiting.pop()
        if key in planes:
            found.add(key)
            continue
        new = set(graph.sources(key)) - seen
        seen |= new
        waiting += new
    return [key for key in graph.order if key in found]


# random weights ------------------------------------------------------------------------------
# The check of a method: with random weights the same image must have another map.

Array = np.ndarray[Any, np.dtype[Any]]

LEAST_SPREAD = 1e-9


@contextmanager
def random_weights(built: BuiltModel, seed: int) -> Iterator[None]:
    """Within it the network has random weights; the compiled functions stay (Adebayo et al. 2018).

    Each array keeps its numbers, in random places: so what the layers compute stays within the
    range that the next ones are made for. What was measured on the images, as a Normalization
    layer's mean is, stays.
    """
    measured = {
        id(variable)
        for layer in built.layers.values()
        if hasattr(layer, "finalize_state")
        for variable in layer.weights
    }
    variables = [each for each in named_variables(built).values() if id(each) not in measured]
    kept = [np.asarray(variable.numpy()) for variable in variables]
    random = np.random.default_rng(seed)
    try:
        for variable, values in zip(variables, kept, strict=True):
            variable.assign(random.permutation(values.ravel()).reshape(values.shape))
        yield
    finally:
        for variable, values in zip(variables, kept, strict=True):
            variable.assign(values)


def rank_correlation(first: Array, second: Array) -> float | None:
    """Spearman's, of two arrays of one shape, equal values having their mean rank: -1..1. None
    where one is the same everywhere.
    """
    a, b = _ranks(first.ravel()), _ranks(second.ravel())
    a, b = a - a.mean(), b - b.mean()
    spread = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum() / spread) if spread > LEAST_SPREAD else None


def _ranks(values: Array) -> Array:
    _, number, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[number.ravel()].astype(np.float64)


# slopes --------------------------------------------------------------------------------------
# Values inside a network and how a class's score changes with them, compiled once.

Tensor = Any

Slopes = Callable[[Tensor, Tensor], tuple[list[Tensor], list[Tensor]]]
"""(images (n, height, width, channels), classes (n,)) -> for each place its values, float32
(n, h, w, c), and the gradient of the class's score with respect to them, of the same shape.
"""


def compile_slopes(
    graph: Graph, built: BuiltModel, places: Places, at: Sequence[str], *, is_chain: bool = False
) -> Slopes:
    """A function that is compiled on its first call, for any number of images and any class.

    The score is the logit of the probability, from what the network computes before its last
    activation: by how much a class is above the others. Behind a softmax the gradient of a class
    that the model is sure of is almost 0; and what raises all classes alike is no evidence for one.
    Each place counts for what reaches the scores without another one, so that their shares can be
    summed; or, where they are one behind the other, for all that goes through it.

    Args:
        graph: The network.
        built: The same, whole, with its weights, which may change later.
        places: The places of the network, as `find_places` gives them.
        at: Ids of the nodes in question.
        is_chain: They are in order one behind the other, and no way goes around one.
    """
    starts = at[:1] if is_chain else at
    before = {key for each in starts for key in (*graph.ancestors(each), each)}
    way = graph.ancestors(places.score) | {places.score}
    first = [key for key in graph.order if key in before]
    second = [key for key in graph.order if key in way - before]

    def slopes(images: Tensor, classes: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        tensors = {places.input: images}
        _run(graph, built.layers, places, tensors, first)
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch([tensors[each] for each in starts])
            _run(graph, built.layers, places, tensors, second)
            score = _above_others(tensors[places.score], classes)
        values = [tensors[each] for each in at]
        zero = tf.UnconnectedGradients.ZERO
        return values, tape.gradient(score, values, unconnected_gradients=zero)

    signature = [
        tf.TensorSpec((None, *built.input_shape), tf.float32),
        tf.TensorSpec((None,), tf.int64),
    ]
    return tf.function(slopes, input_signature=signature, autograph=False)  # type: ignore[no-any-return]


def _above_others(scores: Tensor, classes: Tensor) -> Tensor:
    """The score of one class each, less the soft maximum of the others; (n,) of (n, classes)."""
    own = tf.gather(scores, classes, axis=1, batch_dims=1)
    if scores.shape[1] == 1:
        return own
    hidden = tf.one_hot(classes, scores.shape[1], on_value=scores.dtype.min / 2, off_value=0.0)
    return own - tf.reduce_logsumexp(scores + hidden, axis=1)


def _run(
    graph: Graph,
    made: Mapping[str, Any],
    places: Places,
    tensors: dict[str, Tensor],
    keys: Sequence[str],
) -> None:
    """Calls layers in order, each on the outputs of those before it."""
    for key in keys:
        if key in tensors:
            continue
        layer, inputs = made[key], [tensors[source] for source in graph.sources(key)]
        # Keras has no other way to see whether a layer takes the argument.
        more = {"training": False} if getattr(layer, "_call_has_training_arg", False) else {}
        with _without_activation(layer if key == places.score else None):
            output = layer(inputs if len(inputs) > 1 else inputs[0], **more)
        tensors[key] = tf.stop_gradient(output) if key in places.stops else output


@contextmanager
def _without_activation(layer: Any | None) -> Iterator[None]:
    """While compiling, a layer gives what it computes before its activation."""
    activation = getattr(layer, "activation", None)
    if layer is None or activation is None:
        yield
        return
    layer.activation = keras.activations.linear
    try:
        yield
    finally:
        layer.activation = activation


# explainer -----------------------------------------------------------------------------------
# Heat maps of a model: where in an image the evidence for a class is.

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
