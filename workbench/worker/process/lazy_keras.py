"""TensorFlow, imported late: the first answer of a worker never waits for it."""

from __future__ import annotations

import os
import threading
from typing import Any


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
            if self._keras is None:
                os.environ["KERAS_BACKEND"] = "tensorflow"
                os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
                import keras

                self._keras = keras
            return self._keras
