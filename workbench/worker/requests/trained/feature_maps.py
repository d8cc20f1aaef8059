"""ShowLayer: the feature maps or the filters of a layer."""

from __future__ import annotations

import time

import msgspec
import numpy as np

from workbench.errors import UsageError
from workbench.inference.runner import Pixels
from workbench.pictures.heat import heat_colors, weight_colors
from workbench.protocol.trained.feature_maps import MOST_CHANNELS, LayerShown, ShowLayer
from workbench.runs.model_card import weights_of
from workbench.worker.feature_maps import (
    Chosen,
    Levels,
    Looker,
    Planes,
    columns_for,
    looker_of,
    planes_of,
    sheet,
    tile_levels,
)
from workbench.worker.requests.session import Job
from workbench.worker.saved_models.keras_runner import KerasRunner

_FIGURE_TILE = 64
_FIGURE_GAP = 2
"""Pixels of a tile in the figure for people, about, and of the gap between two tiles."""


def show_layer(job: Job, request: ShowLayer) -> LayerShown:
    """Makes the tiles.

    Raises:
        UsageError: the network has no such layer, or that has no filters; or no image was given.
        PictureError: the image cannot be read.
        RunError: the layer's output, or its kernel, is not finite.
    """
    runner = job.keras_runner(request.model)
    started = time.perf_counter()
    looker = looker_of(runner)
    chosen = looker.choose(request.layer, request.what, is_preferred=request.is_preferred)
    answer = _answer(job, runner, looker, chosen)
    if chosen.what == "filters":
        planes, answer = _filters(request, looker, answer)
    elif request.is_preferred and not request.picture:
        return answer
    else:
        planes, answer = _maps(request, looker, answer, _fitted(runner, request.picture))
    tiles = tile_levels(planes)
    columns = columns_for(len(tiles))
    return msgspec.structs.replace(
        answer,
        channels=planes.channels,
        tiles_png=job.session_png(sheet(tiles, columns), "tiles"),
        columns=columns,
        tile=list(tiles.shape[1:3]),
        is_color=planes.is_color,
        figure_png=job.session_png(_figure(tiles, planes), "figure") if request.with_figure else "",
        milliseconds=round(1000 * (time.perf_counter() - started), 3),
    )


def _fitted(runner: KerasRunner, picture: str) -> Pixels:
    if not picture:
        raise UsageError("Feature maps are of an image.", expected="an image file")
    return runner.decoded(picture)[1]


def _answer(job: Job, runner: KerasRunner, looker: Looker, chosen: Chosen) -> LayerShown:
    """The answer without tiles."""
    return LayerShown(
        id=job.id,
        layer=chosen.place.name,
        what=chosen.what,
        layers=looker.places,
        shape=chosen.place.shape,
        total=chosen.place.shape[-1],
        weights=weights_of(runner.card),
        epochs_done=runner.card.epochs_done,
    )


def _maps(
    request: ShowLayer, looker: Looker, answer: LayerShown, image: Pixels
) -> tuple[Planes, LayerShown]:
    planes = planes_of(looker.maps(answer.layer, image), request.order, _most(request))
    return planes, msgspec.structs.replace(answer, file=request.picture)


def _filters(request: ShowLayer, looker: Looker, answer: LayerShown) -> tuple[Planes, LayerShown]:
    found = looker.filters(answer.layer)
    values, count = found.values, found.values.shape[2]
    answer = msgspec.structs.replace(answer, shape=list(found.shape), total=values.shape[-1])
    if not found.is_color:
        at = min(max(0, request.input_channel), count - 1)
        values = values[:, :, at]
        answer = msgspec.structs.replace(answer, input_channels=count, input_channel=at)
    return planes_of(values, request.order, _most(request), is_signed=True), answer


def _most(request: ShowLayer) -> int:
    return min(max(1, request.most), MOST_CHANNELS)


def _figure(tiles: Levels, planes: Planes) -> Levels:
    """The tiles in colors, enlarged without smoothing, on white: uint8 (height, width, 3)."""
    factor = max(1, round(_FIGURE_TILE / max(tiles.shape[1:3])))
    large = tiles.repeat(factor, axis=1).repeat(factor, axis=2)
    if planes.is_color:
        colored = large
    elif planes.is_signed:
        colored = weight_colors(large)[..., :3]
    else:
        colored = heat_colors(np.maximum(large, 1))[..., :3]
    return sheet(colored, columns_for(len(tiles)), gap=_FIGURE_GAP)
