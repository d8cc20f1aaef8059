"""What another computer needs of the application to train: no window, no resources, no Qt."""

from __future__ import annotations

import hashlib
import io
import zipfile
from functools import cache
from pathlib import Path

import workbench

PACKAGES = (
    "core",
    "curves",
    "hardware",
    "host",
    "processes",
    "pictures",
    "programs",
    "layers",
    "backbones",
    "datasets",
    "targets",
    "exports",
    "protocol",
    "settings",
    "runs",
    "worker",
)
"""Whole packages; tests/remote/setup/test_setup.py checks that the trainer imports nothing else."""

MODULES = ("__init__.py", "errors.py", "assets.py", "downloads.py")

_DATE = (1980, 1, 1, 0, 0, 0)


@cache
def code_archive() -> tuple[str, bytes]:
    """sha256 and bytes of the archive: the same for the same sources, whenever it is made."""
    root = Path(workbench.__file__).resolve().parent
    paths = [root / name for name in MODULES]
    for package in PACKAGES:
        found = (root / package).rglob("*")
        paths += sorted(path for path in found if path.suffix in {".py", ".toml"})
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path in paths:
            info = zipfile.ZipInfo(f"workbench/{path.relative_to(root).as_posix()}", _DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = 0o600 << 16
            archive.writestr(info, path.read_bytes())
    return hashlib.sha256(data.getvalue()).hexdigest(), data.getvalue()
