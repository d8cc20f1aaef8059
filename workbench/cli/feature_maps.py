"""`workbench feature-maps`: what a layer gives for an image, channel by channel, or its filters."""

from __future__ import annotations

import argparse
from pathlib import Path

from msgspec import to_builtins

from workbench.cli._options import (
    RUN_WORDS,
    add_json_option,
    add_output,
    output_of,
    refuse_existing,
)
from workbench.cli._output import report
from workbench.cli._service import answers_of, only, open_service
from workbench.core.format import count, number_text, shape_text, share
from workbench.core.storage.save import save_bytes
from workbench.errors import UsageError
from workbench.protocol.trained.feature_maps import (
    COLUMNS,
    MOST_CHANNELS,
    ORDERS,
    LayerShown,
    ShowLayer,
    channel_table,
    channel_values,
)
from workbench.runs.library.index import find_model

NAME = "feature-maps"
HELP = "show what a layer gives for an image, or its filters"

_MOST_LINES = 20

_OF_TILES = frozenset(("answer", "id", "tiles_png", "columns", "tile", "figure_png"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds RUN, PICTURE, --layer, --filters, --input-channel, --order, --most, -o, ...."""
    parser.add_argument("model", metavar="RUN", help=f"{RUN_WORDS}, or .keras file")
    parser.add_argument(
        "image", metavar="PICTURE", type=Path, nargs="?", help="image file; not for --filters"
    )
    parser.add_argument(
        "--layer",
        metavar="NAME",
        default="",
        help="layer to look at (default: the first one that has filters)",
    )
    parser.add_argument("--filters", action="store_true", help="the kernel of the layer instead")
    parser.add_argument(
        "--input-channel",
        metavar="N",
        type=int,
        default=0,
        help="of the kernel, unless it is in color (default: %(default)s)",
    )
    parser.add_argument(
        "--order", choices=ORDERS, default="strength", help="of the channels (default: %(default)s)"
    )
    parser.add_argument(
        "--most",
        metavar="N",
        type=int,
        default=MOST_CHANNELS,
        help="channels to show (default: %(default)s)",
    )
    add_output(parser, "tiles as .png, or the table as .csv", name="FILE")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the statistics of the channels; writes FILE."""
    out = output_of(arguments)
    if out is not None:
        _refuse_ending(out)
        refuse_existing(out, force=arguments.force)
    if arguments.most < 1:
        raise UsageError("At least one channel is shown.", received=str(arguments.most))
    request = ShowLayer(
        id=1,
        model=find_model(arguments.model),
        picture=str(arguments.image) if arguments.image is not None else "",
        layer=arguments.layer,
        what="filters" if arguments.filters else "maps",
        input_channel=arguments.input_channel,
        order=arguments.order,
        most=arguments.most,
        with_figure=out is not None,
    )
    with open_service() as service:
        answer = only(answers_of(service, request, is_quiet=arguments.json), LayerShown)
        if out is not None:
            save_bytes(out, _content(out, answer))
    report(_value(answer, out), *_lines(answer, out), as_json=arguments.json)
    return 0


def _refuse_ending(out: Path) -> None:
    if out.suffix.lower() not in (".png", ".csv"):
        what = "The tiles are written as PNG, the table as CSV."
        raise UsageError(what, received=str(out), expected="FILE.png or FILE.csv")


def _content(out: Path, answer: LayerShown) -> bytes:
    if out.suffix.lower() == ".csv":
        return channel_table(answer.channels).encode()
    return Path(answer.figure_png).read_bytes()


def _value(answer: LayerShown, out: Path | None) -> dict[str, object]:
    """The answer without what belongs to its tiles; the columns are those of the table."""
    value = {key: part for key, part in to_builtins(answer).items() if key not in _OF_TILES}
    rows = [dict(zip(COLUMNS, channel_values(each), strict=True)) for each in answer.channels]
    return {**value, "channels": rows, "path": str(out.absolute()) if out is not None else None}


def _lines(answer: LayerShown, out: Path | None) -> list[str]:
    shape = "kernel" if answer.what == "filters" else "output"
    lines = [f"{answer.layer}: {shape} {shape_text(answer.shape)}"]
    lines.append("".join(f"{name:>12}" for name in COLUMNS))
    for channel in answer.channels[:_MOST_LINES]:
        index, *numbers, zeros = channel_values(channel)
        cells = [str(index), *map(number_text, numbers), share(zeros)]
        lines.append("".join(f"{cell:>12}" for cell in cells))
    if (more := len(answer.channels) - _MOST_LINES) > 0:
        lines.append(f"and {count(more)} more; --json or -o FILE.csv has them all")
    if out is not None:
        lines.append(f"Wrote {out}.")
    return lines
