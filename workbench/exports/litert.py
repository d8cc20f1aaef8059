"""LiteRT with the network's own numbers."""

from __future__ import annotations

from typing import Any

from workbench.exports._lite import lite_spec


def _change(_tf: Any, _converter: Any) -> None:
    """The numbers stay as they are: float32."""


SPEC = lite_spec(
    "litert",
    "LiteRT",
    "One file for telephones and small computers (LiteRT, TensorFlow Lite), with the network's own "
    "numbers of 32 bits.",
    _change,
    order=0,
    is_exact=True,
)
