"""TensorFlow and Keras, imported late: the first answer of a worker never waits for them."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from workbench.parts import TRAIN


@dataclass
class Imports:
    """How imports are made in this process.

    Attributes:
        are_kept: What is there after one is never looked through for garbage again; for processes
            that end with their work. Looking took a fifth of the time of a short training.
    """

    are_kept: bool = False

    @contextlib.contextmanager
    def without_collector(self) -> Iterator[None]:
        """An import makes a million objects that stay, and hardly any garbage."""
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if self.are_kept:
                gc.freeze()
            if was_enabled:
                gc.enable()


imports = Imports()
"""How this process imports."""


@cache
def _load_tensorflow() -> Any:
    TRAIN.require()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    with imports.without_collector():
        import tensorflow as tf

    return tf


@cache
def _load_keras() -> Any:
    os.environ["KERAS_BACKEND"] = "tensorflow"
    _load_tensorflow()
    with imports.without_collector():
        import keras

    return keras


class _LateModule:
    """A proxy of a module, which is imported when an attribute is first used."""

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load

    def __getattr__(self, name: str) -> Any:
        return getattr(self._load(), name)


keras: Any = _LateModule(_load_keras)
tf: Any = _LateModule(_load_tensorflow)


class LazyKeras:
    """Imports Keras on its TensorFlow backend once, on request or ahead of time."""

    _lock = threading.Lock()
    """Shared by all instances: a trainer waits for the import that it began before it had a run."""

    def __init__(self) -> None:
        self._keras: Any = None

    @property
    def is_loaded(self) -> bool:
        """True when `keras()` answers at once."""
        return self._keras is not None

    def load_ahead(self) -> None:
        """Starts the import in a thread of its own, so that the first image waits less."""
        # np.unique imports it when first called: in two threads at once that can fail.
        importlib.import_module("numpy.ma")
        threading.Thread(target=self.keras, name="import-tensorflow", daemon=True).start()

    def keras(self) -> Any:
        """The keras module. Blocks until it is imported; safe from any thread. Raises
        MissingPartError.
        """
        with self._lock:
            self._keras = self._keras or _load_keras()
            return self._keras
