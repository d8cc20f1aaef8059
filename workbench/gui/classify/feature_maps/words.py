"""What is shown of a layer, in words. Qt-free."""

from __future__ import annotations

from workbench.core.format import count, duration, number_text, shape_text, share
from workbench.protocol.trained.feature_maps import Channel, LayerShown, Order, What
from workbench.runs.log.scores import weights_words

WHATS: tuple[tuple[What, str, str], ...] = (
    ("maps", "Maps", "What the layer gives for the picture, a tile for each channel"),
    ("filters", "Filters", "The weights of the layer's kernel, a tile for each filter"),
)
"""Key, title and tooltip of what can be shown."""

ORDERS: tuple[tuple[Order, str, str], ...] = (
    ("strength", "Strongest", "The strongest first, by the mean of the absolute values"),
    ("index", "By index", "In the order that the layer has them"),
)


def name_of(shown: LayerShown, channel: Channel) -> str:
    """Title of a tile: "Channel 12" or "Filter 12", from 0 as in Keras."""
    return f"{'Filter' if shown.what == 'filters' else 'Channel'} {channel.index}"


def facts_of(channel: Channel) -> tuple[tuple[str, str], ...]:
    """Name and value of what is known of a channel's values."""
    return (
        ("Min", number_text(channel.least)),
        ("Max", number_text(channel.largest)),
        ("Mean", number_text(channel.mean)),
        ("Zeros", share(channel.zeros)),
    )


def tip_of(shown: LayerShown, channel: Channel) -> str:
    """All of it on a few lines."""
    facts = "\n".join(f"{name}: {value}" for name, value in facts_of(channel))
    return f"{name_of(shown, channel)}\n{facts}"


def about(shown: LayerShown, *, has_picture: bool, is_training: bool) -> str:
    """What is shown: layer, shape, how many, and of which weights; and what is missing."""
    shape = "kernel" if shown.what == "filters" else "output"
    parts = [f"{shown.layer}: {shape} {shape_text(shown.shape)}"]
    if 0 < len(shown.channels) < shown.total:
        parts.append(f"{count(len(shown.channels))} of {count(shown.total)} shown")
    if silent := sum(not channel.strength for channel in shown.channels):
        parts.append(f"{count(silent)} all 0")
    if words := weights_words(shown.weights):
        parts.append(f"weights of the {words}")
    if is_training:
        parts.append("newer ones follow while it trains")
    if shown.channels:
        parts.append(duration(shown.milliseconds / 1000))
    missing = "" if has_picture else " Drop a picture to see what the layer gives for it."
    return f"{', '.join(parts)}.{missing}"
