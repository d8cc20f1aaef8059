"""A ZIP archive of class folders."""

from __future__ import annotations

from workbench.datasets._archives import archive_source

SPEC = archive_source("zip", "ZIP archive", patterns=("*.zip",))
