"""What is found in small networks, which have no Rescaling to be short."""

from __future__ import annotations

from dataclasses import replace

from workbench.core.checks.analysis import Analysis

NOT_SCALED = "Pixel values are not scaled"


def without_pixels(found: Analysis) -> Analysis:
    """All but that their pixel values are not scaled."""
    rest = [problem for problem in found.problems if problem.title != NOT_SCALED]
    return replace(found, problems=rest)
