"""LiteRT with weights of a quarter of the size."""

from __future__ import annotations

from typing import Any

from workbench.exports._lite import lite_spec


def _change(tf: Any, converter: Any) -> None:
    converter.optimizations = [tf.lite.Optimize.DEFAULT]


SPEC = lite_spec(
    "litert_dynamic",
    "LiteRT, dynamic range",
    "A quarter of the size of LiteRT: weights of 8 bits, the rest float. Faster on processors.",
    _change,
    order=2,
)
