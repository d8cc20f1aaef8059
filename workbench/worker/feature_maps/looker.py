"""The layers of a model, what each gives for an image, and what it has learned to look for."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.network.graph import Graph
from workbench.core.projects.project_file import graph_from_plain
from workbench.errors import RunError, UsageError
from workbench.inference.runner import Pixels
from workbench.layers import all_layers
from workbench.protocol.trained.feature_maps import LayerPlace, What
from workbench.worker.feature_maps.kernels import Filters, filters_of, has_filters, output_shape
from workbench.worker.feature_maps.planes import Values, as_planes
from workbench.worker.process.lazy_keras import keras
from workbench.worker.saved_models.keras_runner import KerasRunner

_KEY = "feature_maps"

_KEPT_MODELS = 16
"""Parts of the network up to a layer, kept for the next image."""


@dataclass(frozen=True)
class Chosen:
    """A layer and what is shown of it."""

    place: LayerPlace
    what: What


class Looker:
    """Looks at the layers of one model."""

    def __init__(self, runner: KerasRunner) -> None:
        self._runner = runner
        self._built = runner.built
        self._graph: Graph = graph_from_plain(runner.card.graph, runner.card.title)
        self._parts: OrderedDict[str, Any] = OrderedDict()
        self._nodes = self._shown_nodes()
        self.places = [self._place(key) for key in self._nodes.values()]

    def choose(self, layer: str, what: What, *, is_preferred: bool) -> Chosen:
        """The layer of a name, and whether its maps or filters are shown; see ShowLayer.

        Raises:
            UsageError: there is none, or it has no filters.
        """
        by_name = {place.name: place for place in self.places}
        if (not layer or is_preferred) and layer not in by_name:
            layer = self._first()
        if layer not in by_name:
            raise UsageError(
                "This network has no such layer.", received=layer, expected=", ".join(by_name)
            )
        place = by_name[layer]
        if what == "filters" and not place.has_filters:
            if is_preferred:
                return Chosen(place, "maps")
            with_filters = [each.name for each in self.places if each.has_filters]
            raise UsageError(
                "This layer has no filters.",
                received=layer,
                expected=", ".join(with_filters) or "a network with a convolution",
            )
        return Chosen(place, what)

    def maps(self, layer: str, image: Pixels) -> Values:
        """The output of a layer for an image uint8 (height, width, channels), as (height, width,
        channels of the layer).

        Raises:
            RunError: it is not finite.
        """
        node = self._nodes[layer]
        if node not in self._built.outputs:
            return image.astype(np.float32)
        output = self._part(node)(np.float32(image[None]), training=False)
        values = np.asarray(output, np.float32)[0]
        _check_finite(values, "outputs", layer)
        return as_planes(values)

    def filters(self, layer: str) -> Filters:
        """The filters of a layer that has some; raises RunError where they are not finite."""
        found = filters_of(self._built, self._graph, self._nodes[layer])
        _check_finite(found.values, "filters", layer)
        return found

    def _shown_nodes(self) -> dict[str, str]:
        """Node id by the layer's name, of the layers in the model."""
        starts = {key for key in self._graph.order if not self._graph.sources(key)}
        known = [key for key in self._graph.order if key in self._built.outputs or key in starts]
        return {self._graph.nodes[key].name: key for key in known}

    def _place(self, node: str) -> LayerPlace:
        one = self._graph.nodes[node]
        return LayerPlace(
            name=one.name,
            title=all_layers()[one.kind].title,
            group=one.group,
            shape=list(output_shape(self._built, node)),
            has_filters=has_filters(self._built, self._graph, node),
        )

    def _first(self) -> str:
        """The first layer with filters; else the first with weights; else the last."""
        with_filters = [place.name for place in self.places if place.has_filters]
        layers = self._built.layers
        learned = [
            name
            for name, key in self._nodes.items()
            if key in layers and layers[key].trainable_variables
        ]
        return [*with_filters, *learned, self.places[-1].name][0]

    def _part(self, node: str) -> Any:
        """The network up to a layer."""
        if node not in self._parts:
            output = self._built.outputs[node]
            self._parts[node] = keras.Model(self._built.model.input, output, name="up_to_layer")
        self._parts.move_to_end(node)
        if len(self._parts) > _KEPT_MODELS:
            self._parts.popitem(last=False)
        return self._parts[node]


def _check_finite(values: Values, what: str, layer: str) -> None:
    if not np.isfinite(values).all():
        raise RunError(
            f"The {what} of this layer are not finite: the training diverged.",
            where=layer,
            fix="Train it again with a lower learning rate.",
        )


def looker_of(runner: KerasRunner) -> Looker:
    """The looker of a model: one for as long as the model is kept."""
    kept: Looker = runner.extras.setdefault(_KEY, None) or Looker(runner)
    runner.extras[_KEY] = kept
    return kept
