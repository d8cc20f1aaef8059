"""A TAR archive of class folders, compressed or not."""

from __future__ import annotations

from workbench.datasets._archives import archive_source

SPEC = archive_source(
    "tar",
    "TAR archive",
    patterns=("*.tar", "*.tar.gz", "*.tgz", "*.tar.xz", "*.txz", "*.tar.bz2", "*.tbz2"),
    endings=" (.tar, .tgz, .tar.xz, .tar.bz2)",
)
