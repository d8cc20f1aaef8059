"""What is shown of a layer, in words. Qt-free."""

from __future__ import annotations

from workbench.core.format import count, duration, number_text, shape_text, share
from workbench.protocol.trained.feature_maps import Channel, LayerShown, Order, What
from workbench.runs.log.scores import weights_words

WHATS: tuple[tuple[What, str, str], ...] = (
    ("maps", "Feature maps", "What the layer gives for the picture, a tile for each channel"),
    ("filters", "Filters", "The weights of the layer's kernel, a tile for each filter"),
)
"""Key, title and tooltip of what can be shown."""

ORDERS: tuple[tuple[Order, str, str], ...] = (
    ("strength", "Strongest first", "By the mean of the absolute values"),
    ("index", "By index", "As the layer has them"),
)


def name_of(shown: LayerShown, channel: Channel) -> str:
    """As "Channel 12" or "Filter 12", from 0 as in Keras."""
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


def subject_of(shown: LayerShown) -> str:
    """What is shown: layer, shape, how many, and of which weights."""
    shape = "kernel" if shown.what == "filters" else "output"
    parts = [shown.layer, f"{shape} {shape_text(shown.shape)}"]
    if len(shown.channels) < shown.total:
        parts.append(f"{count(len(shown.channels))} of {count(shown.total)} shown")
    if silent := sum(not channel.strength for channel in shown.channels):
        parts.append(f"{count(silent)} all 0")
    parts.append(duration(shown.milliseconds / 1000))
    return ", ".join(parts)


def weights_shown(shown: LayerShown, *, is_training: bool) -> str:
    """Which weights are shown, and that newer ones will follow; "" if neither is known."""
    words = weights_words(shown.weights)
    parts = [f"Weights: {words}"] if words else []
    if is_training:
        parts.append("follows the training")
    return "; ".join(parts)
