"""The colors of reports: those of the window, and those of the layer categories."""

from __future__ import annotations

import json

from workbench.assets import resource_path

_TABLE = json.loads(resource_path("styles/colors.json").read_text(encoding="utf-8"))

LIGHT: dict[str, str] = _TABLE["light"]
DARK: dict[str, str] = _TABLE["dark"]
"""Color of each token."""

CATEGORIES: dict[str, str] = _TABLE["categories"]
"""Color of each category of layers, the same in both themes."""
