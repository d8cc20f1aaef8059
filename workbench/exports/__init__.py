"""The exports, one file each: SPEC. Found by walking this folder.

A format declares how it is written, in which group it is listed, and how it is read back
(`ExportReader`): by its own runtime (`ExportRuntime`: a Python module, or another program), through
the section of `resources/programs/classify.py` that reads the format. The process that does this
is `workbench.worker.requests.exporting`.

What a format lacks on this computer is found here (`missing_runtime`), for the worker and for the
window's dialog. A folder is replaced only if the facts in it show that it is an export
(`is_export_folder`). Calibration: formats of 8-bit integers have the temperature in the model
itself (`has_temperature`); for the others the program that reads them applies it. Modules whose
names begin with "_" are shared code.
"""

from __future__ import annotations

from functools import cache
from itertools import chain, islice
from pathlib import Path

import msgspec

from workbench.core.registry import Registry
from workbench.core.specs import EXPORT_GROUPS, ExportSpec
from workbench.core.storage.foreign_file import read_foreign
from workbench.errors import InputError, WorkbenchError
from workbench.parts import TRAIN

FACTS_FORMAT = "workbench-export"
"""Value of `format` in the facts that each folder of an export has, beside its model or in it."""

_FACTS_INSIDE = "assets.extra/workbench.json"  # of a SavedModel
_MOST_FACTS, _MOST_FACTS_BYTES = 100, 1_000_000


@cache
def all_exports() -> Registry[ExportSpec]:
    """Every export format by key."""
    return Registry.from_package("workbench.exports", ExportSpec)


def run_exports() -> dict[str, ExportSpec]:
    """The formats that a trained run is written in, group by group."""
    specs = [spec for spec in all_exports().values() if spec.needs_weights]
    specs.sort(key=lambda spec: (EXPORT_GROUPS.index(spec.group), spec.order))
    return {spec.key: spec for spec in specs}


def training_exports() -> dict[str, ExportSpec]:
    """The programs that train a project elsewhere, and write results to import here."""
    return {key: spec for key, spec in all_exports().items() if not spec.needs_weights}


def untrained_exports() -> dict[str, ExportSpec]:
    """The formats of a run that a project is written in as well, without weights."""
    return {key: spec for key, spec in all_exports().items() if spec.write_project is not None}


def missing_runtime(spec: ExportSpec) -> WorkbenchError | None:
    """Why no export in a format can be made here, with the line that installs what is missing: what
    writes all formats, or what reads this one back. None where both are installed. May start a
    program to find that out.
    """
    if not TRAIN.is_installed:  # each export is compared with the model in Keras
        return TRAIN.error()
    if spec.reader is None or not (missing := spec.reader.runtime.missing()):
        return None
    runtime = spec.reader.runtime
    return InputError(
        f"“{spec.title}” needs {runtime.package}, which is not installed.",
        received=missing,
        expected="the runtime of the format, in which each export is compared with the model",
        fix=f"Install it with `{runtime.install()}`.",
    )


def is_export_folder(folder: Path) -> bool:
    """Whether a folder is an export, as the facts in it show. No link is one, nor what cannot be
    read: such a folder is never replaced.
    """
    if folder.is_symlink() or not folder.is_dir():
        return False
    found = chain([folder / _FACTS_INSIDE], islice(folder.glob("*.json"), _MOST_FACTS))
    return any(map(_has_facts, found))


def _has_facts(file: Path) -> bool:
    try:
        return (
            msgspec.json.decode(read_foreign(file, _MOST_FACTS_BYTES), type=_Facts).format
            == FACTS_FORMAT
        )
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return False


class _Facts(msgspec.Struct):
    format: str = ""
