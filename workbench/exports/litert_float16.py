"""LiteRT with weights of half the size."""

from __future__ import annotations

from typing import Any

from workbench.exports._lite import lite_spec


def _change(tf: Any, converter: Any) -> None:
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.target_spec.supported_types = [tf.float16]


SPEC = lite_spec(
    "litert_float16",
    "LiteRT, float16",
    "Half the size of LiteRT: weights of 16 bits. Hardly another answer; for graphics processors.",
    _change,
    order=1,
)
