"""What can be done with the selected runs, as a menu; the list's keys ask for the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from pathlib import Path

from PySide6.QtWidgets import QMenu, QWidget

from workbench.core.format import plural
from workbench.exports import run_exports
from workbench.runs.export.tables import can_write_parquet
from workbench.runs.library.summary import RunSummary

Ask = Callable[[str, list[RunSummary]], None]
"""Called with what is asked, such as "rename" or "export:keras", and the runs it is for."""

CURVE_FORMATS = {"csv": "Curves as CSV", "parquet": "Curves as Parquet"}


def run_menu(
    parent: QWidget, runs: Sequence[RunSummary], *, shown: Collection[Path], ask: Ask
) -> QMenu:
    """The context menu of the selected runs, at least one; `ask` is called with what was chosen.

    Those in `shown` are drawn on the plots beside the selected one.
    """
    menu = QMenu(parent)
    chosen = list(runs)

    def add(key: str, words: str, *, to: QMenu = menu, is_enabled: bool = True) -> None:
        action = to.addAction(words, lambda: ask(key, chosen))
        action.setEnabled(is_enabled)

    if len(chosen) == 1:
        _add_for_one(menu, chosen[0], add)
    else:
        add("compare", "Compare…")
    all_shown = all(run.path in shown for run in chosen)
    add(
        "hide" if all_shown else "show",
        f"{'Remove from plots' if all_shown else 'Overlay on plots'}\tSpace",
    )
    menu.addSeparator()
    if len(chosen) > 1:
        add("tags", "Add tags…")
    what = "Move to trash" if len(chosen) == 1 else f"Move {plural(len(chosen), 'run')} to trash"
    is_over = all(run.is_over for run in chosen)
    add("delete", f"{what}\tDel" if is_over else what, is_enabled=is_over)
    return menu


def _add_for_one(menu: QMenu, run: RunSummary, add: Callable[..., None]) -> None:
    if run.outcome == "running":
        add("pause", "Pause")
        add("stop", "Stop")
    elif run.outcome == "waiting":
        add("start_now", "Start now")
        add("earlier", "Move up in queue", is_enabled=run.queue_place > 1)
        add("later", "Move down in queue")
        add("cancel", "Remove from queue\tDel")
    elif run.can_resume:
        add("resume", "Resume")
    elif run.outcome == "completed":
        words = "Train longer…" if run.can_train_longer else "Train longer (no checkpoint is kept)"
        add("train_longer", words, is_enabled=run.can_train_longer)
    if run.outcome == "away":
        add("attach", f"Reconnect to {run.on}" if run.on else "Reconnect")
    if run.can_move and not run.can_resume:
        add("go_on_here", "Continue on this computer")
    if menu.actions():
        menu.addSeparator()
    add("open_project", "Open this run's project")
    add("rename", "Rename…\tF2")
    add("tags", "Tags…")
    add("note", "Note…")
    add("card", "Model card…")
    menu.addSeparator()
    add("compare", "Compare with…")
    add("folder", "Open folder")
    add("report", "Report…")
    _add_exports(menu, run, add)


def _add_exports(menu: QMenu, run: RunSummary, add: Callable[..., None]) -> None:
    exports = menu.addMenu("Export")
    for _group, specs in groupby(run_exports().values(), lambda spec: spec.group):
        for spec in specs:
            add(f"export:{spec.key}", f"{spec.title}…", to=exports, is_enabled=run.has_model)
        exports.addSeparator()
    for suffix, words in CURVE_FORMATS.items():
        lacks = suffix == "parquet" and not can_write_parquet()
        text = f"{words} (pyarrow is not installed)…" if lacks else f"{words}…"
        can_write = run.epochs_done > 0
        add(f"curves:{suffix}", text, to=exports, is_enabled=can_write)
