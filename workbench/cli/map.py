"""`workbench map`: the images of a run as points in a plane, by its last hidden layer."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli._options import (
    RUN_WORDS,
    add_json_option,
    add_output,
    output_of,
    refuse_existing,
)
from workbench.cli._output import print_json, print_line
from workbench.cli._service import ask_one
from workbench.core.format import count, share
from workbench.core.projects.data_edits import PART_NAMES
from workbench.core.storage.save import save_bytes
from workbench.errors import RunFolderError
from workbench.protocol.messages import Done
from workbench.protocol.trained.image_map import MapImages
from workbench.runs.export.tables import image_map_csv
from workbench.runs.folder import RunFolder
from workbench.runs.library.index import find_model
from workbench.runs.store.image_features import ImageMap, load_image_map

NAME = "map"
HELP = "map of all images of a run: images that look alike to the network are near each other"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds RUN, -o, --force, --json."""
    parser.add_argument("model", metavar="RUN", help=RUN_WORDS)
    add_output(parser, "table to write: file, label, predicted, x, y, part", name="FILE.csv")
    # Of earlier versions, which had umap as well.
    parser.add_argument("--method", choices=["pca"], default="pca", help=argparse.SUPPRESS)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Computes what is not kept with the run yet; writes the table."""
    arguments.out = output_of(arguments)
    if arguments.out is not None:
        refuse_existing(arguments.out, force=arguments.force)
    folder = RunFolder(Path(find_model(arguments.model)))
    request = MapImages(id=1, model=str(folder.path))
    ask_one(request, Done, is_quiet=arguments.json)
    card = folder.model_card()
    found = load_image_map(folder, card.checksum, len(card.class_names))
    if found is None:  # a trainer has kept other weights meanwhile
        raise RunFolderError(
            "The weights of the run have changed meanwhile.", where=str(folder.path), fix="Repeat."
        )
    if arguments.out is not None:
        table = image_map_csv(found, card.class_names)
        save_bytes(arguments.out, table.encode())
    if arguments.json:
        print_json(_facts(found, arguments))
    else:
        _print(found, arguments)
    return 0


def _facts(found: ImageMap, arguments: argparse.Namespace) -> dict[str, object]:
    return {
        "method": arguments.method,
        "path": str(arguments.out) if arguments.out is not None else None,
        "images": dict(zip(PART_NAMES, found.counts, strict=True)),
        "total": dict(zip(PART_NAMES, found.totals.tolist(), strict=True)),
        "accuracy": float(found.images.is_right.mean()),
        "variance": found.shares.tolist(),
    }


def _print(found: ImageMap, arguments: argparse.Namespace) -> None:
    for name, used, total in zip(PART_NAMES, found.counts, found.totals.tolist(), strict=True):
        of_all = f" of {count(total)}" if used < total else ""
        print_line(f"{name:12} {count(used)}{of_all} images")
    first, second = found.shares.tolist()
    print_line(f"The axes have {share(first)} and {share(second)} of the variance.")
    if arguments.out is not None:
        print_line(f"Wrote {arguments.out}.")
    else:
        print_line("-o FILE.csv writes the places of all images.")
