"""Loads the code of views ahead of their first use, beside the window's own thread.

The plots alone take some tenths of a second to load: more than a click may wait for. The
start page needs none of it, so it is loaded once there is a project to train.
"""

from __future__ import annotations

import logging
from functools import cache
from threading import Thread

from workbench.gui.views import project_views

_log = logging.getLogger("workbench.window")


@cache
def preload() -> Thread:
    """Starts to load what will be wanted; a second call changes nothing."""
    thread = Thread(target=_load, name="preload", daemon=True)
    thread.start()
    return thread


def _load() -> None:
    """Only imports: widgets are made by the window's thread alone."""
    for spec in project_views():
        try:
            spec.load()
        except ImportError:
            _log.exception("the view %s could not be loaded ahead", spec.key)
