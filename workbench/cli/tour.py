"""`workbench tour`: the whole job in a terminal: train the bundled project on the bundled
images, classify some, say where everything is kept. What run.sh does without a display.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from workbench.assets import sample_paths
from workbench.cli._follow import CtrlC
from workbench.cli._options import recipe_value
from workbench.cli._output import print_line, print_text
from workbench.cli._service import ask
from workbench.cli.train import print_run
from workbench.core.projects.project import new_project_id
from workbench.protocol.classify import Classified, Classify
from workbench.runs.environment import refuse_unready
from workbench.runs.folder import create_run
from workbench.runs.start import start_trainer
from workbench.templates import find_template

NAME = "tour"
HELP = "train the bundled project in the terminal and classify bundled images"

_TEMPLATE = "fashion_convnet"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds an epoch count for the impatient."""
    parser.add_argument(
        "--epochs", type=recipe_value("epochs"), metavar="N", help="epochs; default: the template's"
    )


def run(arguments: argparse.Namespace) -> int:
    """Trains, classifies and prints where the run is."""
    template = find_template(_TEMPLATE)
    project = replace(template.project, id=new_project_id())
    print_line(f"{template.title}: {template.parameters:,} parameters. {template.summary}")
    if arguments.epochs is not None:
        recipe = project.recipe.with_values(epochs=arguments.epochs)
        project = replace(project, recipe=recipe)
    refuse_unready(project.target)
    folder = create_run(project, title=template.title)
    with CtrlC(folder) as ctrl_c:
        start_trainer(folder)
        code = print_run(folder, ctrl_c, as_json=False)
    if code:
        return code
    print_line("")
    print_line("Classifying the bundled images:")
    pictures = [str(path) for path in sample_paths()]
    for answer in ask(Classify(id=1, model=str(folder.path), pictures=pictures, top=3)):
        if isinstance(answer, Classified):
            _show(answer)
    print_line("")
    print_line(f"Run folder: {folder.path}")
    print_line(f"Classify your own pictures with: workbench classify {folder.name} IMAGE...")
    return 0


def _show(answer: Classified) -> None:
    name = Path(answer.file).name
    if answer.error is not None:
        print_line(f"{name}: {answer.error.what}")
        return
    best = answer.scores[0]
    bar = "█" * round(20 * best.probability)
    print_text(f"{name:24} {bar:20} {best.name} {best.probability:.1%}")
