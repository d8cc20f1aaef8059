"""The train view of the real window on a run: `python -m tests.benchmarks._watch RUN`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.benchmarks._window import shown_window


def main(path: Path) -> int:
    """Watches the run until it ends."""
    from PySide6.QtCore import QTimer

    from workbench.app import close_context

    app, context, window = shown_window()
    context.library.open()
    window.show_view("train")
    context.library.select(path)

    def look() -> None:
        if context.library.current and context.library.current.outcome.is_over:
            app.quit()

    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(500)
    app.exec()
    close_context(context)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
