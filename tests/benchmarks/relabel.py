"""From 20 mended labels to the next confusion matrix: the flower photos, with a pretrained network
whose features are known from the run before. Needs the photos of ../shared/data/flowers.
"""

from __future__ import annotations

import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path

from tests.benchmarks._runs import own_home, wait_for
from tests.proofs._commands import workbench
from workbench.core.projects.project_file import read_project
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.start import start_trainer
from workbench.runs.state.preparing import with_remembered_split
from workbench.runs.store.evaluation import read_evaluation, read_image_scores
from workbench.runs.store.image_scores import ScoredImages
from workbench.runs.store.weights_file import create_run_from

FLOWERS = Path(__file__).resolve().parents[3] / "shared" / "data" / "flowers"
RELABELS = 20
GOAL_S = 15.0
ROUNDS = 3


def images_of(run: RunFolder) -> ScoredImages:
    """What the run has predicted for each test image."""
    kept = read_evaluation(run, run.model_card().class_names)
    images = read_image_scores(run, kept) if kept is not None else None
    if images is None:
        raise SystemExit("the run has kept no predictions")
    return images


def main() -> None:
    """Prints the seconds of each round."""
    if not FLOWERS.is_dir():
        print(f"{FLOWERS} is not there.")
        sys.exit(2)
    home = own_home()
    path = home / "p.workbench"
    workbench(home, "new", "--from", f"folder:{FLOWERS}", str(path))
    project = read_project(path)
    run = create_run(with_remembered_split(project))
    start_trainer(run)
    wait_for(run)
    for number in range(ROUNDS):
        images, names = images_of(run), run.model_card().class_names
        worst = images.worst_first[:RELABELS]
        labels = {images.content_of(at): names[images.predicted[at]] for at in map(int, worst)}
        edits = replace(project.edits, labels={**project.edits.labels, **labels})
        project = replace(project, edits=edits)
        began = time.monotonic()
        run = create_run_from(run, with_remembered_split(project))
        start_trainer(run)
        wait_for(run)
        matrix = images_of(run).confusion(len(names))
        seconds = time.monotonic() - began
        print(
            f"round {number + 1}: {RELABELS} relabeled, trained {project.recipe.epochs} epochs, "
            f"matrix of {matrix.total} images after {seconds:.1f} s (goal {GOAL_S:.0f} s)",
            flush=True,
        )
    shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
