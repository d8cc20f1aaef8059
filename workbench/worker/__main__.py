"""`python -m workbench.worker train RUN_FOLDER`, `... serve`, `... lower`; `ready` for the
trainer of a run to come; `start`, `cancel` and `pack` for another computer, `join FOLDER` for
one of several machines; `convert` to write an export.

Started by the window, the command line and tests; never imported by them.
"""

from __future__ import annotations

import contextlib
import os
import sys

from workbench.worker.channel import claim_stdout
from workbench.worker.process.lazy_keras import imports

USAGE = (
    "usage: python -m workbench.worker train RUN_FOLDER [--resume] | serve | "
    "lower | ready | start RUN_FOLDER [--resume] | cancel RUN_FOLDER | pack RUN_FOLDER | "
    "join FOLDER | convert"
)


def main(words: list[str]) -> int:
    """Runs what the words name; returns its exit code."""
    match words:
        case ["train" | "start" as verb, folder, *options] if set(options) <= {"--resume"}:
            return _begin(verb, folder, resume="--resume" in options)
        case [verb] if verb in _PLAIN:
            return _PLAIN[verb]()
        case ["cancel" | "pack" | "join" as verb, folder]:
            return _ALONE[verb](folder)
    sys.stderr.write(USAGE + "\n")
    return 2


def _begin(verb: str, folder: str, *, resume: bool) -> int:
    if verb == "start":
        from workbench.worker.trainer.queue_start import start

        return start(folder, resume=resume)
    from workbench.worker.trainer.train import run_training

    return run_training(folder, resume=resume)


def _wait() -> int:
    from workbench.worker.process.setup import SessionFolder
    from workbench.worker.trainer.ready import wait_for_run

    with SessionFolder():
        words = wait_for_run()
        return 0 if words is None else main(words)


def _serve() -> int:
    protocol = claim_stdout()
    from workbench.worker.service import serve

    return serve(protocol)


def _lower() -> int:
    from workbench.worker.lowering.child import run_child

    with os.fdopen(claim_stdout(), "wb") as answers:
        return run_child(answers)


def _convert() -> int:
    with os.fdopen(claim_stdout(), "wb") as answers:
        from workbench.worker.requests.exporting.converter import run_converter

        return run_converter(answers)


def _pack(folder: str) -> int:
    protocol = claim_stdout()
    from workbench.worker.requests.dataset_bundle import pack_run

    return pack_run(folder, protocol)


def _join(folder: str) -> int:
    from workbench.worker.trainer.join import join_training

    return join_training(folder)


def _cancel(folder: str) -> int:
    from workbench.worker.trainer.queue_start import cancel

    return cancel(folder)


_PLAIN = {"serve": _serve, "lower": _lower, "convert": _convert, "ready": _wait}
"""Commands without arguments."""

_ALONE = {"cancel": _cancel, "pack": _pack, "join": _join}
"""Commands whose only argument is a folder."""


if __name__ == "__main__":
    imports.are_kept = True
    try:
        exit_code = main(sys.argv[1:])
    except SystemExit as end:  # SIGTERM, after the session folder has been removed
        exit_code = end.code if isinstance(end.code, int) else 1
    with contextlib.suppress(OSError):  # the disk may be full that they go to
        sys.stdout.flush()
        sys.stderr.flush()
    # TensorFlow's threads are not waited for: an import or a compilation under way would
    # hold up the end for seconds, and everything worth keeping has been written.
    os._exit(exit_code)
