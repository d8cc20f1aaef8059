"""`workbench compiler`: Google's TPU compiler for preflights, in an environment of its own."""

from __future__ import annotations

import argparse

from workbench.cli._options import add_json_option
from workbench.cli._output import print_json, print_line, print_text
from workbench.core.format import bytes_text
from workbench.preflight.compiler_environment import (
    DOWNLOAD_BYTES,
    INSTALLED_BYTES,
    CompilerEnvironment,
)

NAME = "compiler"
HELP = "the optional TPU compiler for `workbench preflight`: status, install, remove"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds `status`, `install [--accept SHA]`, `remove`."""
    commands = parser.add_subparsers(metavar="COMMAND", dest="command", required=True)
    status = commands.add_parser("status", help="show whether it is installed, and its size")
    install = commands.add_parser("install", help="download it, show its license, install it")
    install.add_argument(
        "--accept", metavar="SHA", help="checksum of the license you have read and accept"
    )
    remove = commands.add_parser("remove", help="uninstall it")
    for parser_of_one in (status, install, remove):
        add_json_option(parser_of_one)


def run(arguments: argparse.Namespace) -> int:
    """Status: 1 when it is not installed. Install: 1 while its license is not accepted."""
    environment = CompilerEnvironment()
    match arguments.command:
        case "install":
            return _install(environment, arguments)
        case "remove":
            freed = environment.remove()
            if arguments.json:
                print_json({"freed_bytes": freed})
            else:
                print_text(f"Removed, {bytes_text(freed)} freed.")
            return 0
    return _status(environment, as_json=arguments.json)


def _status(environment: CompilerEnvironment, *, as_json: bool) -> int:
    is_installed = environment.is_installed()
    if as_json:
        print_json(
            {
                "installed": is_installed,
                "downloaded": environment.is_downloaded(),
                "possible": not environment.why_not(),
                "problem": environment.why_not() or None,
                "packages": environment.packages,
                "folder": str(environment.home),
                "size_bytes": environment.size_bytes(),
                "download_bytes": DOWNLOAD_BYTES,
                "installed_bytes": INSTALLED_BYTES,
            }
        )
    elif is_installed:
        print_text(f"Installed in {environment.home}: {_packages(environment)}.")
        print_text(f"Size: {bytes_text(environment.size_bytes())}.")
    else:
        print_text(
            environment.why_not() or "Not installed. Install it with `workbench compiler install`."
        )
    return 0 if is_installed else 1


def _install(environment: CompilerEnvironment, arguments: argparse.Namespace) -> int:
    def say(line: str) -> None:
        if not arguments.json:
            print_line(line)

    if environment.is_installed():
        return _status(environment, as_json=arguments.json)
    environment.download(on_progress=say, check=_go_on)
    terms = environment.license()
    if arguments.accept is None:
        if arguments.json:
            print_json({"installed": False, "licence": terms.text, "sha256": terms.sha256})
            return 1
        print_line(f"Downloaded {_packages(environment)}. The license of libtpu:")
        print_text(*terms.text.splitlines())
        print_line("To accept it and install:")
        print_line(f"    workbench compiler install --accept {terms.sha256}")
        return 1
    environment.install(arguments.accept, on_progress=say, check=_go_on)
    return _status(environment, as_json=arguments.json)


def _packages(environment: CompilerEnvironment) -> str:
    return ", ".join(f"{name} {version}" for name, version in environment.packages.items())


def _go_on() -> None:
    """Ctrl+C ends the command line by itself."""
