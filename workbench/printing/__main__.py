"""`python -m workbench.printing`: a document on stdin, its PDF on stdout."""

from __future__ import annotations

import os
import sys

import msgspec

from workbench.report.blocks import Document
from workbench.window_libraries import refuse_without_libraries


def main() -> int:
    """Exit code 0 after the whole file, 1 with the reason on stderr."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    document = msgspec.json.decode(sys.stdin.buffer.read(), type=Document)
    refuse_without_libraries()
    # Only now: where a library is missing, Qt ends the process without a reason.
    from workbench.printing.document import pdf_bytes  # noqa: PLC0415

    sys.stdout.buffer.write(pdf_bytes(document))
    sys.stdout.buffer.flush()
    os._exit(0)  # Qt's objects may be freed in an order that crashes


if __name__ == "__main__":
    sys.exit(main())
