"""Every view and main dialog in 7 sizes, 3 scales, light and dark: clipped texts, controls that
cannot be reached, stray scroll bars.

A scale is a process of its own: Qt reads it at its start. Prints a table of flaws, and with
--pictures FOLDER saves a picture of each.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

SIZES = (
    (900, 600), (960, 540), (1024, 700), (1280, 800), (1366, 768), (1440, 900), (1920, 1080),
)  # fmt: skip
"""In device-independent pixels; 960 x 540 is 1920 x 1080 at a scale of 2."""

SCALES = ("1", "1.5", "2")
MODES = ("light", "dark")
_SETTLE_MS = 60
_TRIES = 3
_FRAME_PX = (16, 48)
"""What a window manager's frame and title bar take of a screen."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", choices=SCALES, help="only this one, in this process")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER")
    parser.add_argument("--views", nargs="*", help="only these views and dialogs")
    parser.add_argument("--sizes", nargs="*", metavar="WxH", help="only these")
    chosen = parser.parse_args(arguments)
    if chosen.scale is not None:
        return look(chosen)
    began = time.monotonic()
    words = sys.argv[1:] if arguments is None else arguments
    results = [_in_process(scale, words) for scale in SCALES]
    num_looks = sum(int(found[0]) for found in results)
    num_flaws = sum(int(found[1]) for found in results)
    print(
        f"sizes: {num_looks:,} looks ({len(SIZES)} sizes, {len(SCALES)} scales, light and dark): "
        f"{num_flaws} flaws, {time.monotonic() - began:.0f} s"
    )
    return int(num_flaws > 0)


def _in_process(scale: str, words: list[str]) -> tuple[str, str]:
    environment = {**os.environ, "QT_SCALE_FACTOR": scale, "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", "tests.proofs.sizes", "--scale", scale, *words]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, end="")
    if done.returncode not in (0, 1):
        raise SystemExit(f"scale {scale}: exit code {done.returncode}")
    looks, _, flaws, _ = done.stdout.splitlines()[-1].split()[-4:]
    return looks, flaws


def look(chosen: argparse.Namespace) -> int:
    """Looks at everything at one scale; the last line is its sum."""
    with tempfile.TemporaryDirectory(prefix="workbench-sizes-") as home:
        os.environ["WORKBENCH_HOME"] = home
        from PySide6.QtWidgets import QApplication

        from tests.staged import VIEWS, Staged
        from tests.window_parts import window_context
        from workbench.app import make_window

        app = QApplication([])
        with window_context(Path(home)) as context:
            context.theme.apply(app)
            window = make_window(context, Path(home))
            window.show()
            staged = Staged(window, Path(home))
            staged.stage()
            looker = Looker(chosen)
            sizes = [size for size in SIZES if not chosen.sizes or _text(size) in chosen.sizes]
            for mode in MODES:
                context.theme.set_mode(mode)
                for view in VIEWS:
                    if not chosen.views or view in chosen.views:
                        for size in sizes:
                            window.resize(*size)
                            looker.look(staged.show(view), view, mode, size)
                for name, open_it in staged.dialogs():
                    if not chosen.views or name in chosen.views:
                        dialog = open_it()
                        for size in sizes:
                            _shrink(dialog, size)
                            looker.look(dialog, name, mode, size)
                        dialog.close()
            context.document.new()
            window.close()
        return looker.summary()


def _text(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


def _shrink(dialog, size: tuple[int, int]) -> None:
    """Gives a dialog its own size, or what a screen of that size leaves it."""
    room = [length - frame for length, frame in zip(size, _FRAME_PX, strict=True)]
    dialog.resize(min(dialog.width(), room[0]), min(dialog.height(), room[1]))


class Looker:
    """Counts flaws, and prints each once with the sizes and modes in which it is there."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self._chosen = chosen
        self._looks = 0
        self._flaws: dict[tuple[str, str], list[str]] = {}
        self._by_kind: Counter[str] = Counter()

    def look(self, window, name: str, mode: str, size: tuple[int, int]) -> None:
        """Looks at a window that has just got its size."""
        from PySide6.QtTest import QTest

        from tests.looks import flaws_of

        QTest.qWait(_SETTLE_MS)
        self._looks += 1
        found = [str(flaw) for flaw in flaws_of(window)]
        for _ in range(_TRIES):
            if found:  # a layout that was not finished has none a moment later
                QTest.qWait(_SETTLE_MS)
                found = [str(flaw) for flaw in flaws_of(window)]
        if window.width() > size[0] or window.height() > size[1]:
            found.append(f"window: {window.width()} x {window.height()} is larger than the screen")
        for flaw in found:
            self._flaws.setdefault((name, flaw), []).append(f"{_text(size)} {mode}")
            self._by_kind[flaw.partition(":")[0]] += 1
        if self._chosen.pictures is not None:
            folder = self._chosen.pictures
            folder.mkdir(parents=True, exist_ok=True)
            file = f"{name}_{_text(size)}_{self._chosen.scale}_{mode}.png"
            window.grab().save(str(folder / file))

    def summary(self) -> int:
        """Prints the flaws and the sum; returns the exit code."""
        for (name, flaw), places in self._flaws.items():
            print(f"{name}: {flaw} [{len(places)}: {', '.join(places[:4])}]")
        total = sum(self._by_kind.values())
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self._by_kind.items()))
        sums = f"{self._looks} looks, {total} flaws"
        print(f"scale {self._chosen.scale}: {kinds or 'nothing'}: {sums}")
        return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
