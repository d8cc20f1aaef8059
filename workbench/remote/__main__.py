"""`python -m workbench.remote RUN_FOLDER [--resume]`: the run mirror of one run.

Started as a trainer is, by window, command line or tests; never imported by them.
"""

from __future__ import annotations

import sys

USAGE = "usage: python -m workbench.remote RUN_FOLDER [--resume]"


def main(words: list[str]) -> int:
    """Brings a run from where it is trained; returns the exit code."""
    match words:
        case [folder, *options] if set(options) <= {"--resume"}:
            from workbench.remote.mirror.process import carry  # noqa: PLC0415 - usage needs none of it

            return carry(folder, resume="--resume" in options)
    sys.stderr.write(USAGE + "\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
