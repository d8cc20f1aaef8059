"""Files of weights as plain Keras 3, `tf_keras` and Keras 1 write them, of networks of a project.

A network of the project is built in the other library with other names, the inputs of a merge the
other way round, parts as models within the model, or one layer used twice; random weights, saved.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from tests.built_networks import graph_of
from workbench.core.network.graph import Graph
from workbench.core.network.roles import input_nodes
from workbench.layers import all_layers
from workbench.worker.requests.exporting.converter import keras_calls

RENAMED = {"LeakyReLU": {"negative_slope": "alpha"}}
"""What Keras 2 calls arguments of Keras 3."""

COMMUTATIVE = ("Add", "Multiply", "Average", "Maximum")


@dataclass(frozen=True)
class Made:
    """A file, and how it was made.

    Attributes:
        kind: What is special about it.
        library: "keras", "tf_keras" or "keras 1".
        format: Ending, with "whole" for a whole model in .h5 and "unnamed" where layers have none.
        graph: The network of the project.
        path: The file.
        pictures: float32 (n, height, width, channels).
        answers: What the maker answers for them.
    """

    kind: str
    library: str
    format: str
    graph: Graph
    path: Path
    pictures: np.ndarray
    answers: np.ndarray


# networks of the project ----------------------------------------------------------------


def _net(parts: Sequence[Sequence[str]], **kinds: tuple[str, dict]) -> Graph:
    edges = [pair for part in parts for pair in pairwise(part)]
    return graph_of(list(dict.fromkeys(edges)), **kinds)


def _conv(filters: int, **more: Any) -> tuple[str, dict]:
    return "conv2d", {"filters": filters, "kernel_size": (3, 3), "padding": "same", **more}


_IN = ("input", {"shape": (8, 8, 3)})
_END = {"pool": ("global_average_pooling2d", {}), "out": ("dense", {"units": 4})}


def chain(n: int) -> Graph:
    """Equal convolutions in a row, with batch normalization."""
    return _net(
        [["image", "scaled", "first", "norm", "second", "third", "pool", "out"]],
        image=_IN,
        scaled=("rescaling", {"scale": 1 / 255}),
        first=_conv(n),
        norm=("batch_normalization", {}),
        second=_conv(n, activation="relu"),
        third=_conv(n),
        **_END,
    )


def branches(n: int, merge: str = "add") -> Graph:
    """Two branches of equal shapes that compute different things."""
    return _net(
        [
            ["image", "stem", "left", "leftnorm", "joined", "pool", "out"],
            ["stem", "right", "rightnorm", "joined"],
        ],
        image=_IN,
        stem=_conv(n),
        left=_conv(n, activation="relu"),
        right=_conv(n),
        leftnorm=("batch_normalization", {}),
        rightnorm=("batch_normalization", {}),
        joined=(merge, {}),
        **_END,
    )


def twins(n: int) -> Graph:
    """Two branches that nothing tells apart."""
    return _net(
        [
            ["image", "stem", "a1", "a2", "joined", "pool", "out"],
            ["stem", "b1", "b2", "joined"],
        ],
        image=_IN, stem=_conv(n), a1=_conv(n), a2=_conv(n), b1=_conv(n), b2=_conv(n),
        joined=("add", {}), **_END,
    )  # fmt: skip


def joined(n: int) -> Graph:
    """The same, one beside the other."""
    return branches(n, "concatenate")


def residual(n: int) -> Graph:
    """Two blocks, one with a projection of the shape of its own convolution."""
    return _net(
        [
            ["image", "stem", "one", "sum", "two", "sum2", "pool", "out"],
            ["stem", "skip", "sum"],
            ["sum", "sum2"],
        ],
        image=_IN, stem=_conv(n), one=_conv(n, activation="elu"), skip=_conv(n), sum=("add", {}),
        two=_conv(n), sum2=("average", {}), **_END,
    )  # fmt: skip


def norms(n: int) -> Graph:
    """Batch normalization without scale and without center, group and layer normalization."""
    return _net(
        [["image", "c1", "unscaled", "c2", "uncentered", "group", "layer", "plain", "pool", "out"]],
        image=_IN, c1=_conv(n), unscaled=("batch_normalization", {"scale": False}), c2=_conv(n),
        uncentered=("batch_normalization", {"center": False}),
        group=("group_normalization", {"groups": 2}), layer=("layer_normalization", {}),
        plain=("batch_normalization", {"scale": False, "center": False}), **_END,
    )  # fmt: skip


def kinds(n: int) -> Graph:
    """Separable, depthwise and transposed convolutions, PReLU, normalization."""
    same = {"kernel_size": (3, 3), "padding": "same"}
    return _net(
        [
            ["image", "input_norm", "c1", "sep", "up", "prelu", "sum", "leaky", "pool", "out"],
            ["c1", "deep", "sum"],
        ],
        image=_IN, input_norm=("normalization", {}), c1=_conv(n),
        sep=("separable_conv2d", {"filters": n, **same}),
        up=("conv2d_transpose", {"filters": n, **same}), prelu=("prelu", {}),
        deep=("depthwise_conv2d", {**same}), sum=("add", {}), leaky=("leaky_relu", {}), **_END,
    )  # fmt: skip


NETWORKS: dict[str, Callable[[int], Graph]] = {
    each.__name__: each for each in (chain, branches, twins, joined, residual, norms, kinds)
}

_FIRST = ("first", "stem", "c1")
"""Convolutions of the image, which has other channels than what the others see."""

# how the other library has them -----------------------------------------------------------


@dataclass
class Maker:
    """Builds and saves networks in a library.

    Args:
        library: keras or tf_keras.
        random: For weights and names.
    """

    library: Any
    random: np.random.Generator

    def build(self, graph: Graph, kind: str) -> Any:
        """The network, as the kind says (see `KINDS`)."""
        calls = keras_calls(graph)
        if kind == "exchanged":
            calls = [
                replace(call, inputs=call.inputs[::-1]) if call.spec.title in COMMUTATIVE else call
                for call in calls
            ]
        names = self._names(calls, kind)
        layers = {call.name: self._layer(call, names) for call in self._creation(calls, kind)}
        if kind == "shared":
            self._share(calls, layers)
        shape = input_nodes(graph, all_layers())[0].params["shape"]
        inputs = self.library.Input(shape)
        if kind in ("nested", "nested_sequential"):
            model = self._nested(calls, layers, inputs, kind)
        else:
            model = self.library.Model(inputs, self._connected(calls, layers, inputs))
        self._fill(model)
        return model

    def _creation(self, calls: Sequence[Any], kind: str) -> list[Any]:
        """Layers are numbered as they are made: in another order than they are called in."""
        made = [call for call in calls if call.inputs]
        return made[::-1] if kind == "exchanged" else made

    def _names(self, calls: Sequence[Any], kind: str) -> dict[str, str | None]:
        names = [call.name for call in calls]
        if kind in ("automatic", "exchanged", "shared", "nested_sequential"):
            return dict.fromkeys(names)
        if kind == "renamed":
            words = self.random.permutation(len(names)) + int(self.random.integers(100, 900))
            return {name: f"my_{word}" for name, word in zip(names, words, strict=True)}
        if kind == "permuted":
            return self._permuted(calls)
        return {name: name for name in names}

    def _permuted(self, calls: Sequence[Any]) -> dict[str, str | None]:
        """The same names, those of each class turned by one."""
        found: dict[str, str | None] = {}
        for title in {call.spec.title for call in calls}:
            of_class = [call.name for call in calls if call.spec.title == title]
            found |= dict(zip(of_class, [*of_class[1:], *of_class[:1]], strict=True))
        return found

    def _layer(self, call: Any, names: dict[str, str | None]) -> Any:
        arguments = {**call.required, **call.arguments}
        if self.library.__name__ == "tf_keras":
            new = RENAMED.get(call.spec.title, {})
            arguments = {new.get(key, key): value for key, value in arguments.items()}
        more = {} if names[call.name] is None else {"name": names[call.name]}
        return getattr(self.library.layers, call.spec.title)(**arguments, **more)

    def _share(self, calls: Sequence[Any], layers: dict[str, Any]) -> None:
        """One layer in place of two that are equal."""
        by_form: dict[str, str] = {}
        for call in calls:
            if call.spec.title == "Conv2D" and call.name not in _FIRST:
                form = repr(sorted({**call.required, **call.arguments}.items(), key=str))
                layers[call.name] = layers[by_form.setdefault(form, call.name)]

    def _connected(self, calls: Sequence[Any], layers: dict[str, Any], first: Any) -> Any:
        tensors: dict[str, Any] = {}
        for call in calls:
            inputs = [tensors[source] for source in call.inputs if source in tensors]
            if not call.inputs or len(inputs) < len(call.inputs):
                tensors[call.name] = first if not call.inputs else layers[call.name](first)
                continue
            tensors[call.name] = layers[call.name](inputs if len(inputs) > 1 else inputs[0])
        return tensors[calls[-1].name]

    def _nested(self, calls: Sequence[Any], layers: dict[str, Any], inputs: Any, kind: str) -> Any:
        """All but pooling and answer as a model within the model."""
        body, head = calls[:-2], calls[-2:]
        if kind == "nested_sequential":
            chained = all(len(call.inputs) < 2 for call in body)
            if chained:
                inner = self.library.Sequential([layers[call.name] for call in body[1:]])
                return self.library.Model(inputs, self._connected(head, layers, inner(inputs)))
        start = self.library.Input(inputs.shape[1:])
        inner = self.library.Model(start, self._connected(body, layers, start))
        return self.library.Model(inputs, self._connected(head, layers, inner(inputs)))

    def _fill(self, model: Any) -> None:
        """Random weights, different in each array; factors and variances near one."""
        for layer in model.layers:
            if hasattr(layer, "layers"):
                self._fill(layer)
            elif layer.get_weights():
                weights = layer.get_weights()
                noise = [self.random.normal(0, 0.1 + 0.5 * w.std(), w.shape) for w in weights]
                made = [w + n for w, n in zip(weights, noise, strict=True)]
                if type(layer).__name__ in ("BatchNormalization", "Normalization"):
                    made = [np.abs(array) for array in made]
                layer.set_weights(made)
                if hasattr(layer, "finalize_state"):
                    layer.finalize_state()


KINDS = (
    "same names", "automatic", "renamed", "permuted", "exchanged", "shared", "nested",
    "nested_sequential",
)  # fmt: skip

FORMATS = {
    "keras": (".keras", ".weights.h5", "unnamed .weights.h5", "whole .h5"),
    "tf_keras": (".keras", ".weights.h5", ".h5", "whole .h5"),
    "keras 1": (".h5",),
}


def save(model: Any, name: str, folder: Path, number: int) -> Path:
    """Saves a model in a format of `FORMATS`."""
    ending = name.rpartition(" ")[2]
    path = folder / f"{number}{ending}"
    logging.disable(logging.WARNING)  # that formats are old, which they are meant to be
    try:
        if ending == ".keras" or name.startswith("whole"):
            model.save(path)
        else:
            model.save_weights(path)
    finally:
        logging.disable(logging.NOTSET)
    if name.startswith("unnamed"):
        with h5py.File(path, "r+") as file:
            file.visititems(_remove_name)
    return path


def _remove_name(_: str, place: Any) -> None:
    place.attrs.pop("name", None)


def save_keras1(model: Any, path: Path) -> None:
    """The weights of a `tf_keras` model without models within it, as Keras 1.2 saved them: no
    version, other names, running_std for the variance.
    """
    short = {"kernel": "W", "bias": "b", "moving_mean": "running_mean",
             "moving_variance": "running_std"}  # fmt: skip
    classes: dict[str, int] = {}
    with h5py.File(path, "w") as file:
        names = []
        for layer in model.layers:
            stem = {"Conv2D": "convolution2d"}.get(
                type(layer).__name__, type(layer).__name__.lower()
            )
            classes[stem] = classes.get(stem, 0) + 1
            name = f"{stem}_{classes[stem]}"
            names.append(name)
            group = file.create_group(name)
            arrays = {}
            for variable in layer.weights:
                base = variable.name.rpartition("/")[2].partition(":")[0]
                arrays[f"{name}_{short.get(base, base)}"] = variable.numpy()
            group.attrs["weight_names"] = [each.encode() for each in arrays]
            for each, array in arrays.items():
                group[each] = array
        file.attrs["layer_names"] = [name.encode() for name in names]


def plans(seed: int, count: int) -> Iterator[tuple[str, str, str, str]]:
    """Library, format, kind and network of files to make: all combinations that there are, in a
    random order.
    """
    every = [
        (library, form, kind, network)
        for library, forms in FORMATS.items()
        for form, kind, network in product(forms, KINDS, NETWORKS)
        if not (
            library == "keras 1" and (kind.startswith(("nested", "shared")) or network == "kinds")
        )
    ]
    order = np.random.default_rng(seed).permutation(len(every))
    for place in order[:count]:
        yield every[place]


def make_files(folder: Path, seed: int, count: int) -> Iterator[Made]:
    """Files in the folder, one after the other."""
    import keras
    import tf_keras

    random = np.random.default_rng(seed)
    for number, (library, form, kind, network) in enumerate(plans(seed, count)):
        graph = NETWORKS[network](int(2 * random.integers(2, 6)))
        model = Maker(keras if library == "keras" else tf_keras, random).build(graph, kind)
        if library == "keras 1":
            path = folder / f"{number}.h5"
            save_keras1(model, path)
        else:
            path = save(model, form, folder, number)
        pictures = random.uniform(0, 255, (4, 8, 8, 3)).astype("float32")
        answers = np.asarray(model(pictures, training=False))
        yield Made(f"{kind}, {network}", library, form, graph, path, pictures, answers)
