"""How the images of a part are held while training: in memory, cached on disk, or in files.

The batches are the same bit for bit; only speed and memory differ.
"""

from __future__ import annotations

from typing import Literal

from workbench.core.training.recipe import TrainingRecipe
from workbench.pictures.file_rows import FileRows
from workbench.pictures.prepare import PreparedPart
from workbench.processes.memory import own_limits

CacheMode = Literal["memory", "cached", "streamed"]

_SHARE_OF_ALL = 0.3
_SHARE_OF_FREE = 0.5


def cache_mode_of(part: PreparedPart, recipe: TrainingRecipe | None = None) -> CacheMode:
    """Cache mode of a part's images: as the recipe's `pipeline` pins it, or with "auto" in memory
    where there is enough. What is pinned to be streamed is so already in `part`.
    """
    pinned = recipe.pipeline if recipe is not None else "auto"
    if pinned == "memory" or is_array(part):
        return "memory"
    if pinned == "auto" and fits_memory(part):
        return "memory"
    return "streamed" if isinstance(part.x, FileRows) else "cached"


def is_array(part: PreparedPart) -> bool:
    """True when the source has given the images as an array, which is in memory anyway."""
    return not hasattr(part.x, "pick")


def fits_memory(part: PreparedPart) -> bool:
    """True when all the images may be held in memory, with room left to train in."""
    return part.x.nbytes <= memory_for_pictures()


def memory_for_pictures() -> float:
    """Bytes that images may take now: a share of all memory, and of what is still free."""
    limits = [(limit, used) for limit, used in own_limits() if limit > 0]
    if not limits:
        return float("inf")
    return min(
        min(_SHARE_OF_ALL * limit, _SHARE_OF_FREE * max(0, limit - used)) for limit, used in limits
    )
