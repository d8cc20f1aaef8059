"""Files are read by `core.storage.foreign_file` alone: anything else may wait for a pipe without end,
or read a device until the memory is full.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tests.house.sources import Module

_READERS = {"read_text", "read_bytes"}
_OPENERS = {
    "np.load", "np.memmap", "np.fromfile", "np.loadtxt", "np.genfromtxt", "zipfile.ZipFile",
    "tarfile.open", "gzip.open", "Image.open", "open", "io.open", "os.open",
}  # fmt: skip
_WRITES = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_DIRECTORY", "devnull"}
_OPENED = {"file", "opened"}
"""Names of what is open already, or in memory."""

_OWN_PATHS = (
    "resource_path",
    "data_path",
    "help_path",
    "icon_path",
    "faults_path",
    "environment_lock",
)
"""Functions for the program's own files."""
_SYSTEM = ("/proc/", "/sys/")

_ROUTINE = "the routine itself"
_WRITING = "it is opened to be written, by constants for the flags"
_OWN = "a file that comes with the program"
_SCRATCH = "this process, or one that it has started, has just made it in a new folder"
_LOOKED = "it is looked at right before, and mapped by its name"
_ALONE = "it imports nothing of Workbench, and looks at what it has opened"
_KERNEL = "a file of the kernel"

ALLOWED = {
    "core/storage/foreign_file.py: open_descriptor": _ROUTINE,
    "core/storage/own_file.py: open_own": _WRITING,
    "core/storage/own_file.py: replace_own": _WRITING,
    "core/storage/save.py: _flush_tree": _SCRATCH,
    "core/storage/save.py: _write_temporary": _WRITING,
    "datasets/_archives.py: _begin": _WRITING,
    "moving/unbundle.py: _begin": _WRITING,
    "processes/archive_reader.py: _frames": _ALONE,
    "document/recovery.py: hold": _WRITING,
    "document/recovery.py: _open": _WRITING,
    "pictures/sorting/undo_file.py: copy_new": _WRITING,
    "pictures/sorting/undo_file.py: _rename_new": _WRITING,
    "pictures/sorting/undo_file.py: _sync_folder": "a folder that images were just put into",
    "checkup/tpu_first_run.py: toy_project": _OWN,
    "templates.py: _read": _OWN,
    "help_pages.py: page_markdown": _OWN,
    "remote/setup.py: _add_file": _OWN,
    "remote/ssh/command.py: _sources": _OWN,
    "preflight/compiler_environment.py: _lock_sha256": _OWN,
    "cli/explain.py: run": _SCRATCH,
    "cli/feature_maps.py: _content": _SCRATCH,
    "datasets/_npz_file.py: unpack_member": _SCRATCH,
    "exports/_lite.py: _about_integers": _SCRATCH,
    "preflight/compile_child.py: compile": _SCRATCH,
    "preflight/compile_child.py: _report": _SCRATCH,
    "preflight/compiler_environment.py: _stamp": _SCRATCH,
    "preflight/compiler_environment.py: _opened": _SCRATCH,
    "remote/mirror/file_fetcher.py: _check_card": _SCRATCH,
    "remote/mirror/file_fetcher.py: _digest_of": _SCRATCH,
    "remote/ssh/host_keys.py: _through_proxy": _SCRATCH,
    "worker/requests/exporting/converter.py: _references_file": _SCRATCH,
    "worker/requests/exporting/converter.py: _convert": _SCRATCH,
    "worker/requests/exporting/converter.py: _write_expected": _SCRATCH,
    "worker/requests/exporting/handler.py: _faulty_layer": _SCRATCH,
    "worker/requests/exporting/handler.py: move": _SCRATCH,
    "worker/requests/exporting/reader_child.py: _read": _SCRATCH,
    "worker/requests/exporting/converter.py: weights_bytes": _SCRATCH,
    "datasets/_array_cache.py: _mapped": _LOOKED,
    "pictures/dataset_bundle.py: _read_part": _LOOKED,
    "runs/log/confusion_history.py: _records": _LOOKED,
    "pictures/portable/decoding.py: read_file": "exported programs have its source; it looks first",
    "worker/foreign/read_weights.py: _member": _ALONE,
    "hardware/tpu_host.py: _devices": _KERNEL,
    "hardware/tpu_host.py: _holder": _KERNEL,
    "processes/memory.py: _sizes": _KERNEL,
    "targets/this_computer.py: _cpu_line": _KERNEL,
}
"""By file below `workbench/` and function: why another way is right there."""

_ELSEWHERE = "workbench/host/"
"""Runs on the other computer on any Python, without the rest of the program."""


def other_ways(modules: Sequence[Module]) -> list[str]:
    """Calls that read a file by its path in another way."""
    return [
        f"workbench/{place}: line {call.lineno}: {ast.unparse(call)[:80]}"
        for place, call in _found(modules)
        if place not in ALLOWED
    ]


def unused(modules: Sequence[Module]) -> list[str]:
    """Exceptions that nothing needs any more."""
    return sorted(ALLOWED.keys() - {place for place, _ in _found(modules)})


def _found(modules: Sequence[Module]) -> Iterator[tuple[str, ast.Call]]:
    for module in modules:
        for function, call in _calls(module.tree):
            is_here = not module.path.startswith(_ELSEWHERE)
            if is_here and _is_other_way(call):
                yield f"{module.path.removeprefix('workbench/')}: {function}", call


def _calls(tree: ast.AST, function: str = "the module") -> Iterator[tuple[str, ast.Call]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call):
            yield function, node
        inner = node.name if isinstance(node, ast.FunctionDef) else function
        yield from _calls(node, inner)


def _is_other_way(call: ast.Call) -> bool:
    words = ast.unparse(call)
    if (
        any(f"{name}(" in words for name in _OWN_PATHS)
        or any(name in words for name in _SYSTEM)
        or "os.devnull" in words
    ):
        return False
    name = ast.unparse(call.func)
    if name in _OPENERS:
        return _reads(call) and not _is_opened(call)
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr in _READERS:
        return not call.args or bool(call.keywords)
    return call.func.attr == "open" and _is_path_open(call)


def _reads(call: ast.Call) -> bool:
    """Whether the mode or the flags, as far as they are written here, are those of a reader."""
    flags = [ast.unparse(value) for value in call.args[1:2]]
    name = ast.unparse(call.func)
    if name.startswith("np."):
        return True
    if name == "os.open":
        return not any(word in ast.unparse(call) for word in _WRITES)
    return not flags or flags[0].strip("'\"").startswith("r") or "'" not in flags[0]


def _is_opened(call: ast.Call) -> bool:
    if any(keyword.arg == "fileobj" for keyword in call.keywords):
        return True
    first = call.args[0] if call.args else None
    return isinstance(first, ast.Call) or (isinstance(first, ast.Name) and first.id in _OPENED)


def _is_path_open(call: ast.Call) -> bool:
    """Whether `x.open(...)` is that of a path, for reading."""
    if call.args:
        mode = call.args[0]
        is_mode = isinstance(mode, ast.Constant) and isinstance(mode.value, str)
        return is_mode and str(mode.value).startswith("r") and len(str(mode.value)) <= 3
    return any(keyword.arg in ("encoding", "newline", "buffering") for keyword in call.keywords)
