"""What another computer needs of the application to train: no window, no Qt, and of the resources
the pretrained networks alone.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import workbench
from workbench.assets import resource_path
from workbench.backbones import checked_file, known_backbone

PACKAGES = (
    "core",
    "alterations",
    "coach",
    "curves",
    "hardware",
    "host",
    "processes",
    "downloads",
    "pictures",
    "programs",
    "onnx",
    "layers",
    "backbones",
    "datasets",
    "targets",
    "exports",
    "protocol",
    "settings",
    "runs",
    "inference",
    "worker",
)
"""Whole packages; tests/remote/setup/test_setup.py checks that the trainer imports nothing else."""

MODULES = ("__init__.py", "errors.py", "assets.py", "parts.py")

_ROOT = Path(workbench.__file__).resolve().parent
_BACKBONES = "backbones"  # folder of the resources
_DATE = (1980, 1, 1, 0, 0, 0)


@lru_cache(maxsize=2)
def code_archive(backbones: tuple[str, ...] = ()) -> tuple[str, bytes]:
    """sha256 and bytes of the archive: the same for the same sources, whenever it is made.

    Args:
        backbones: Pretrained networks whose weights are sent along. Their layers always are.

    Raises:
        WeightsError: weights are missing or damaged, or of no network that this version has.
    """
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path in _sources():
            _add(archive, path.relative_to(_ROOT).as_posix(), path, zipfile.ZIP_DEFLATED)
        for path in sorted(resource_path(_BACKBONES).glob("*.json")):
            _add(archive, f"_resources/{_BACKBONES}/{path.name}", path, zipfile.ZIP_DEFLATED)
        for path in (checked_file(known_backbone(key)) for key in backbones):
            # Numbers that look like noise: packing them would only take time.
            _add(archive, f"_resources/{_BACKBONES}/{path.name}", path, zipfile.ZIP_STORED)
    return hashlib.sha256(data.getvalue()).hexdigest(), data.getvalue()


def _sources() -> Iterator[Path]:
    yield from (_ROOT / name for name in MODULES)
    for package in PACKAGES:
        found = (_ROOT / package).rglob("*")
        yield from sorted(path for path in found if path.suffix in {".py", ".toml"})


def _add(archive: zipfile.ZipFile, name: str, path: Path, packing: int) -> None:
    info = zipfile.ZipInfo(f"workbench/{name}", _DATE)
    info.compress_type = packing
    info.create_system = 3
    info.external_attr = 0o600 << 16
    archive.writestr(info, path.read_bytes())
