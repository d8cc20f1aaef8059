"""What a layer of a trained network gives for an image, channel by channel, and its filters."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from workbench.core.outside_text import csv_cells
from workbench.protocol.bases import FinalAnswer, Request
from workbench.protocol.weights import KeptWeights

What = Literal["maps", "filters"]
Order = Literal["strength", "index"]

WHATS: tuple[What, ...] = get_args(What)
ORDERS: tuple[Order, ...] = get_args(Order)

MOST_CHANNELS = 1536
"""Most channels of one answer, so that it stays below the limit of a line."""

BINS = 16
"""Bins of the histogram of a channel."""


class LayerPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A layer of the network.

    Attributes:
        name, title: Its own, and that of its type.
        group: Name of the group that it belongs to, such as a backbone; "" for none.
        shape: Shape of its output, without the batch axis.
        has_filters: It has a kernel that can be shown as images.
    """

    name: str
    title: str
    group: str
    shape: list[int]
    has_filters: bool


class Channel(msgspec.Struct, frozen=True, kw_only=True):
    """One tile: a channel of the output, or a filter.

    Attributes:
        index: Index of the channel, from 0.
        least, largest, mean: Minimum, maximum and mean of its values.
        strength: Mean of their absolute values.
        zeros: Share of its values that are exactly 0, 0..1.
        low, high: The values that the tile's levels 0 and 255 stand for.
        histogram: Number of its values in BINS equal parts from least to largest; empty for a
            single value.
    """

    index: int
    least: float
    largest: float
    mean: float
    strength: float
    zeros: float
    low: float
    high: float
    histogram: list[int]


class LayerShown(FinalAnswer, frozen=True, kw_only=True, tag="layer_shown"):
    """Answer to ShowLayer. PNG files are in the worker's session folder.

    Attributes:
        layer: The layer that was looked at.
        what: What is shown of it.
        layers: All layers of the network, each after those that feed it.
        shape: Shape of the layer's output, or of its kernel.
        total: How many channels or filters it has.
        file: The image file; "" for filters.
        channels: Those that are shown, in order.
        tiles_png: Their tiles, row by row: levels from 0 to 255, or colors where `is_color`; ""
            where there are none.
        columns: Tiles in a row.
        tile: Height and width of a tile in pixels; of a large map it is a reduced one.
        is_color: A tile is a filter of three input channels as red, green and blue; gray is 0.
        input_channels: Slices of the kernel to choose from; 0 for maps and colors.
        input_channel: The slice that is shown.
        weights: Which weights the network had; None where that is not known.
        epochs_done: Epochs that the run had trained when they were saved.
        milliseconds: Took decoding and computing.
        figure_png: The tiles in colors; "" where they were not requested.
    """

    layer: str
    what: What
    layers: list[LayerPlace]
    shape: list[int]
    total: int
    file: str = ""
    channels: list[Channel] = []
    tiles_png: str = ""
    columns: int = 0
    tile: list[int] = []
    is_color: bool = False
    input_channels: int = 0
    input_channel: int = 0
    weights: KeptWeights | None = None
    epochs_done: int = 0
    milliseconds: float = 0.0
    figure_png: str = ""


class ShowLayer(Request, frozen=True, kw_only=True, tag="show_layer"):
    """Computes the feature maps or reads the filters of a layer.

    Attributes:
        model: Path of a run folder or of a `.keras` file exported by the application.
        picture: Path of an image file; "" where only filters are wanted.
        layer: Name of the layer; "" for the first one that has weights.
        is_preferred: Another layer is chosen where there is none of that name; without a picture
            a layer without filters is answered without tiles.
        what: The outputs of the layer, or its kernel. A layer without filters has its maps shown
            where `is_preferred`.
        input_channel: Which slice of the kernel; the nearest there is.
        order: Strongest channel first, or by index.
        most: So many channels, 1..MOST_CHANNELS.
        with_figure: Also write the grid of tiles in colors, for people to keep.
    """

    final_answer = LayerShown
    handler = "trained.feature_maps"

    model: str
    picture: str = ""
    layer: str = ""
    is_preferred: bool = False
    what: What = "maps"
    input_channel: int = 0
    order: Order = "strength"
    most: int = MOST_CHANNELS
    with_figure: bool = False


COLUMNS = ("channel", "min", "max", "mean", "strength", "zeros")
"""Column titles of the table of channels, in window and terminal."""


def channel_values(channel: Channel) -> tuple[int | float, ...]:
    """A row of the table."""
    return (
        channel.index,
        channel.least,
        channel.largest,
        channel.mean,
        channel.strength,
        channel.zeros,
    )


def channel_table(channels: list[Channel]) -> str:
    """The table as CSV."""
    rows = [COLUMNS, *map(channel_values, channels)]
    return "".join(f"{csv_cells(row)}\n" for row in rows)
