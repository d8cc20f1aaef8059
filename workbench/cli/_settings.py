"""The settings that `--set KEY=VALUE` and `workbench set` change, and their list in the help."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from workbench.core.projects.assign import PlugIns, with_assignments
from workbench.core.projects.project import Project
from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.datasets import all_datasets
from workbench.layers import all_layers
from workbench.runs.places import remember
from workbench.targets import all_targets

_OTHERS = """other keys:
  data=SOURCE              the data set; data.KEY=VALUE one of its settings
  target=TARGET            the target; target.KEY=VALUE one of its settings
  title=TEXT               the project's title
  LAYER.KEY=VALUE          a setting of a layer by its name, for example conv2d.filters=64
  LAYER.training=VALUE     when it learns: always, fine_tuning or never
  fine_tune_from=LAYER     it and the layers behind it in its group learn in fine-tuning;
                           train_from=LAYER: they learn in the whole training
"""


def changed(project: Project, texts: Iterable[str]) -> Project:
    """The project with values of KEY=VALUE texts; raises UsageError for wrong ones,
    SaveError.
    """
    texts = list(texts)
    plug_ins = PlugIns(layers=all_layers(), datasets=all_datasets(), targets=all_targets())
    result = with_assignments(project, texts, plug_ins)
    # A whole address was typed, not only a part of one that is in a file.
    keys = {text.partition("=")[0].strip() for text in texts}
    if "target" in keys:
        remember(result.target)
    if "data" in keys:
        remember(result.dataset)
    return result


def list_keys_in_help(parser: argparse.ArgumentParser) -> None:
    """Ends a command's help with all keys and what each accepts."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    keys = (f"  {param.key:24} {param.title}: {param.expected()}" for param in RECIPE_PARAMS)
    # A list of hundreds of choices would hide the others; argparse formats with %.
    parser.epilog = "\n".join(("training settings (KEY=VALUE):", *keys, "", _OTHERS))
