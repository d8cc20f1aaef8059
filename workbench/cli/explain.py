"""`workbench explain`: a heat map over an image, of what counts for a class."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli._options import (
    RUN_WORDS,
    add_json_option,
    add_output,
    needed_output,
    refuse_existing,
)
from workbench.cli._output import report
from workbench.cli._service import answers_of, only, open_service
from workbench.core.evaluation.significance import comparison_words
from workbench.core.format import share
from workbench.core.storage.save import save_bytes
from workbench.errors import UsageError
from workbench.protocol.trained.explain import METHODS, Explain, Explained
from workbench.runs.library.index import find_model

NAME = "explain"
HELP = "show where in an image the evidence for a class is"

_TITLES = {"gradcam": "Grad-CAM", "occlusion": "Occlusion", "gradients": "Gradients"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds RUN, IMAGE, OUT and options: --class, --method, --layer, --last-layer, ...."""
    parser.add_argument("model", metavar="RUN", help=f"{RUN_WORDS}, or .keras file")
    parser.add_argument("image", metavar="IMAGE", type=Path, help="image file")
    add_output(parser, "PNG file to write: the image with the map over it")
    parser.add_argument(
        "--class",
        dest="class_name",
        metavar="NAME",
        default="",
        help="class to explain (default: the most probable one)",
    )
    parser.add_argument(
        "--method", choices=METHODS, default="gradcam", help="how (default: %(default)s)"
    )
    layers = parser.add_mutually_exclusive_group()
    layers.add_argument(
        "--layer",
        metavar="NAME",
        default="",
        help="layer that Grad-CAM looks at (default: the one whose map counts most)",
    )
    layers.add_argument(
        "--last-layer",
        action="store_true",
        help="Grad-CAM looks at the last convolution, the same for each image",
    )
    parser.add_argument(
        "--compare",
        action="store_true",
        help="also compare the map with that of random weights",
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes OUT; a file that was there before stays when it fails."""
    out = needed_output(arguments)
    if out.suffix.lower() != ".png":
        raise UsageError("The map is written as PNG.", received=str(out), expected="OUT.png")
    refuse_existing(out, force=arguments.force)
    request = Explain(
        id=1,
        model=find_model(arguments.model),
        picture=str(arguments.image),
        class_name=arguments.class_name,
        method=arguments.method,
        layer=arguments.layer,
        at_last=arguments.last_layer,
        with_overlay=True,
        with_check=arguments.compare,
    )
    with open_service() as service:
        answer = only(answers_of(service, request, is_quiet=arguments.json), Explained)
        save_bytes(out, Path(answer.overlay_png).read_bytes())
    value, lines = _value(answer, out), _lines(answer, out)
    if arguments.compare:
        value["correlation"] = answer.correlation
        lines.append(comparison_words(answer.correlation))
    report(value, *lines, as_json=arguments.json)
    return 0


def _value(answer: Explained, out: Path) -> dict[str, object]:
    return {
        "file": answer.file,
        "class": answer.class_name,
        "probability": answer.probability,
        "method": answer.method,
        "layers": answer.layers,
        "note": answer.note,
        "path": str(out.absolute()),
        "milliseconds": answer.milliseconds,
    }


def _lines(answer: Explained, out: Path) -> list[str]:
    where = f" at {', '.join(answer.layers)}" if answer.layers else ""
    line = (
        f"{_TITLES[answer.method]}{where} for {answer.class_name} "
        f"({share(answer.probability)}): wrote {out}."
    )
    return [line, answer.note] if answer.note else [line]
