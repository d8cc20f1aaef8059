"""The rules of the data check, one file each: SPEC. Found by walking this folder.

A rule is a function of the columns of facts that one pass over the images has gathered (`Survey`);
no rule reads an image. What it returns are findings with actions; see `workbench.core.data_check`.
"""

from __future__ import annotations

from functools import cache

from workbench.core.data_check.findings import DataCheckSpec
from workbench.core.registry import Registry


@cache
def all_data_checks() -> Registry[DataCheckSpec]:
    """Every rule by key, the worst first."""
    return Registry.from_package("workbench.data_checks", DataCheckSpec)
