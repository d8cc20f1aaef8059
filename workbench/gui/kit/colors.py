"""Color tokens of the two themes, from `resources/styles/colors.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass

from workbench.assets import resource_path


@dataclass(frozen=True)
class Colors:
    """All colors of one theme as "#rrggbb"."""

    background: str
    panel: str
    line: str
    canvas: str
    text: str
    dim: str
    faint: str
    accent: str
    accent_text: str
    accent_soft: str
    field: str
    hover: str
    good: str
    warning: str
    bad: str
    bad_soft: str
    train: str
    validation: str
    frozen: str
    fine_tuning: str


_TABLE = json.loads(resource_path("styles/colors.json").read_text(encoding="utf-8"))
LIGHT = Colors(**_TABLE["light"])
DARK = Colors(**_TABLE["dark"])
PALETTE_TOKENS: dict[str, str] = _TABLE["roles"]
"""Color token of each role of Qt's palette."""
CATEGORY_COLORS: dict[str, str] = _TABLE["categories"]
"""Strip and icon color of each layer category, the same in both themes."""
