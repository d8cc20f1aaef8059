"""TensorFlow and Keras, imported late: the first answer of a worker never waits for them."""

from __future__ import annotations

import importlib
import os
import threading
from functools import cache
from types import ModuleType
from typing import Any


@cache
def _imported(name: str) -> ModuleType:
    os.environ["KERAS_BACKEND"] = "tensorflow"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    return importlib.import_module(name)


class _LateModule:
    """Stands for a module, which is imported when something of it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, key: str) -> Any:
        return getattr(_imported(self._name), key)


keras: Any = _LateModule("keras")
tf: Any = _LateModule("tensorflow")


class LazyKeras:
    """Imports Keras on its TensorFlow backend once, on request or ahead of time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keras: Any = None

    @property
    def is_loaded(self) -> bool:
        """True when `keras()` answers at once."""
        return self._keras is not None

    def load_ahead(self) -> None:
        """Starts the import in a thread of its own, so that the first picture waits less."""
        threading.Thread(target=self.keras, name="import-tensorflow", daemon=True).start()

    def keras(self) -> Any:
        """The keras module. Blocks until it is imported; safe from any thread."""
        with self._lock:
            self._keras = self._keras or _imported("keras")
            return self._keras
