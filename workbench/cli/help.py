"""`workbench help`: the pages of the help that contain some words, or one of them as text."""

from __future__ import annotations

import argparse

from workbench.cli._options import add_json_option
from workbench.cli._output import print_json, print_line, print_text
from workbench.help_pages import found_pages, page_markdown
from workbench.layers import all_layers

NAME = "help"
HELP = "search the help, or print a page: by layers, settings, or words of Keras"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds WORDS, --json."""
    parser.add_argument(
        "words", nargs="*", metavar="WORD", help="key of a page to print, or words to search for"
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the page of that key; else a line for each page found, 1 where there is none."""
    layers = all_layers()
    found = found_pages(arguments.words, layers)
    keys = {key for key, _ in found_pages((), layers)}
    if arguments.json:
        print_json([{"page": key, "title": title} for key, title in found])
    elif len(arguments.words) == 1 and arguments.words[0] in keys:
        print_text(*page_markdown(arguments.words[0], layers).split("\n"))
        return 0
    elif found:
        print_text(*(f"{key:20} {title}" for key, title in found))
    else:
        print_line("No page contains these words.")
    return 0 if found else 1
