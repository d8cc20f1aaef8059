"""Writes the project files under resources/templates with the application's own code.

Run after changing a network or a recipe in `templates`: `python packaging/make_templates.py`. The
results are committed; tests check them against this script and the published counts.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # also where a test runs this

from templates import cifar10, fashion, flowers

from workbench.core.projects.project_file import PROJECT_SUFFIX, project_text
from workbench.core.storage.save import save_bytes

FOLDER = Path(__file__).resolve().parents[1] / "resources" / "templates"

TEMPLATES = (
    fashion.fashion_convnet,
    flowers.flowers_transfer,
    cifar10.cifar10_convnet,
    cifar10.cifar10_speedrun,
    flowers.flowers_gap,
    cifar10.small_resnet,
    fashion.lenet5,
    flowers.flowers_squeeze,
    flowers.flowers_convnet,
    flowers.flowers_dense,
)
"""In the order of the welcome page."""


def template_texts() -> dict[str, str]:
    """The text of each template file, by key."""
    texts = {}
    for order, make in enumerate(TEMPLATES, start=1):
        project, words = make()
        whole = replace(project, extra={"template": {"order": order, **words}})
        texts[make.__name__] = project_text(whole)
    return texts


def main() -> None:
    """Writes all files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    folder = parser.parse_args().folder
    for key, text in template_texts().items():
        save_bytes(folder / f"{key}{PROJECT_SUFFIX}", text.encode())
        print(f"wrote {key}{PROJECT_SUFFIX}")


if __name__ == "__main__":
    main()
