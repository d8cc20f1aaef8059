"""ClassifyMany, as the command line does it in its own process."""

from __future__ import annotations

from workbench.inference.many import classify_many

__all__ = ["classify_many"]
