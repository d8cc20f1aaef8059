"""The only reader of resources/: in the source tree, and packed into the wheel."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from workbench.errors import RegistryError


@cache
def resources_folder() -> Path:
    """The folder of all resources: packed beside the code, or at the top of the source tree."""
    here = Path(__file__).resolve().parent
    packed = here / "_resources"
    return packed if packed.is_dir() else here.parent / "resources"


def resource_path(relative: str) -> Path:
    """The path of one resource, e.g. "icons/train.svg".

    Raises:
        RegistryError: there is no such resource; the names beside it are listed.
    """
    root = resources_folder()
    path = (root / relative).resolve()
    if not path.is_relative_to(root) or not path.exists():
        folder = path.parent
        known = sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []
        raise RegistryError(
            "A bundled resource is missing.",
            where=str(root),
            received=relative,
            expected=", ".join(known),
            fix="Reinstall Workbench.",
        )
    return path


def icon_path(name: str) -> Path:
    """The SVG of an icon by its name without ending."""
    return resource_path(f"icons/{name}.svg")


def template_paths() -> list[Path]:
    """All bundled project templates, by file name."""
    return sorted(resource_path("templates").glob("*.workbench"))


def help_path(name: str) -> Path:
    """A help page (Markdown) by its name without ending; a layer's page has its key."""
    return resource_path(f"help/{name}.md")


def data_path(name: str) -> Path:
    """A bundled data file, e.g. "fashion_mnist.npz.xz"."""
    return resource_path(f"data/{name}")


def environment_lock(name: str) -> Path:
    """The hashed list of packages of an environment: "worker", "tpu", "gpu", "compiler"."""
    return resource_path(f"environments/{name}.lock")


def faults_path(name: str) -> Path:
    """The table of a program's messages and what they mean: "ssh"."""
    return resource_path(f"faults/{name}.toml")


def sample_paths() -> list[Path]:
    """The bundled sample images, by file name."""
    return sorted(p for p in resource_path("samples").iterdir() if p.suffix in {".png", ".jpg"})
