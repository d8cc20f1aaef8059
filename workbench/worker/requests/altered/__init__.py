"""Images with alterations: one that is looked at, and the test images of a run."""

from __future__ import annotations

from workbench.worker.requests.altered.classify_altered import classify_altered as classify_altered
from workbench.worker.requests.altered.measure_robustness import (
    measure_robustness as measure_robustness,
)
