"""Colour tokens of the two themes, as in the design: one name, two values."""

from __future__ import annotations

from dataclasses import dataclass


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


LIGHT = Colors(
    background="#f4f5f7",
    panel="#ffffff",
    line="#dfe2e8",
    canvas="#eef0f4",
    text="#1c2330",
    dim="#5d6778",
    faint="#8a94a6",
    accent="#2563eb",
    accent_text="#ffffff",
    accent_soft="#e8effd",
    field="#f4f5f7",
    hover="#eceef2",
    good="#15803d",
    warning="#b45309",
    bad="#c62828",
    bad_soft="#fdeaea",
    train="#3b82f6",
    validation="#f59e0b",
)

DARK = Colors(
    background="#181b22",
    panel="#20242d",
    line="#323846",
    canvas="#14171d",
    text="#e8ebf1",
    dim="#a3adbd",
    faint="#7b8597",
    accent="#6ea1ff",
    accent_text="#0d1424",
    accent_soft="#24324e",
    field="#181b22",
    hover="#2a2f3a",
    good="#4ade80",
    warning="#fbbf24",
    bad="#ff8080",
    bad_soft="#3c262b",
    train="#3b82f6",
    validation="#f59e0b",
)

CATEGORY_COLORS = {
    "input": "#64748b",
    "preprocessing": "#0d9488",
    "convolution": "#2563eb",
    "pooling": "#7c3aed",
    "normalisation": "#0891b2",
    "regularisation": "#d97706",
    "core": "#db2777",
    "activation": "#65a30d",
    "merge": "#475569",
}
"""Strip and icon color of each layer category, the same in both themes."""
