"""Where the application keeps what is not in a project file: runs and caches."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

APP_NAME = "workbench"


def data_home() -> Path:
    """The folder of everything kept; $WORKBENCH_HOME replaces the user's data folder."""
    chosen = os.environ.get("WORKBENCH_HOME", "").strip()
    return Path(chosen).expanduser().absolute() if chosen else platformdirs.user_data_path(APP_NAME)


def runs_home() -> Path:
    """The folder that new runs are made in, one folder each."""
    return data_home() / "runs"


def cache_home() -> Path:
    """The folder of downloads and decoded pictures: may be deleted at any time."""
    if os.environ.get("WORKBENCH_HOME", "").strip():
        return data_home() / "cache"
    return platformdirs.user_cache_path(APP_NAME)
