"""`workbench backbones`: the pretrained networks, and their weights."""

from __future__ import annotations

import argparse

from workbench.backbones import all_backbones, has_weights
from workbench.cli._options import add_json_option
from workbench.cli._output import print_json, print_text, report
from workbench.cli._service import ask_one
from workbench.core.format import bytes_text
from workbench.core.specs import BackboneSpec, BundledWeights
from workbench.protocol.messages import Done
from workbench.protocol.weights import FetchBackbone

NAME = "backbones"
HELP = "list the pretrained networks, or download the weights of one"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --download KEY and --json."""
    keys = [key for key, spec in all_backbones().items() if not spec.is_bundled]
    parser.add_argument(
        "--download", metavar="KEY", choices=keys, help=f"download weights: {', '.join(keys)}"
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints key, size, features and where the weights are; or downloads, which can be canceled
    and goes on where it was.
    """
    if arguments.download:
        request = FetchBackbone(id=1, key=arguments.download)
        done = ask_one(request, Done, is_quiet=arguments.json)
        report({"key": arguments.download, "path": done.path}, done.text, as_json=arguments.json)
        return 0
    for spec in all_backbones().values():
        if arguments.json:
            print_json(_plain(spec))
        else:
            words = (
                f"{spec.key:20} {spec.num_parameters:>12,}  {spec.num_features:>6,}  {spec.title}"
            )
            print_text(f"{words} · {_place(spec)}")
    return 0


def _place(spec: BackboneSpec) -> str:
    if isinstance(spec.weights, BundledWeights):
        return "included"
    return "downloaded" if has_weights(spec) else f"downloads {bytes_text(spec.weights.num_bytes)}"


def _plain(spec: BackboneSpec) -> dict[str, object]:
    is_bundled = isinstance(spec.weights, BundledWeights)
    return {
        "key": spec.key,
        "title": spec.title,
        "summary": spec.summary,
        "license": spec.license,
        "input_shape": list(spec.input_shape),
        "parameters": spec.num_parameters,
        "features": spec.num_features,
        "included": is_bundled,
        "address": "" if isinstance(spec.weights, BundledWeights) else spec.weights.address,
        "is_here": has_weights(spec),
    }
