"""The one tree of errors, and how an error is reported to people and programs.

    WorkbenchError
    ├── UsageError            wrong words on the command line                (exit 2)
    ├── InputError            a file or folder that cannot be read or is wrong (exit 3)
    │   ├── ProjectFileError  a project that cannot be opened
    │   ├── PictureError      an image that cannot be decoded
    │   ├── DatasetError      images and labels that cannot be trained on
    │   │   └── DataNotFoundError  nothing is at their path: they may have been moved
    │   ├── DownloadError     a file of the internet that could not be fetched
    │   ├── WeightsError      weights that do not fit the network
    │   │   ├── LayerOrderError  which layer of a file is which has to be given
    │   │   └── ClassOrderError  which output is which class has to be given
    │   ├── RunFolderError    a run folder that is incomplete or damaged
    │   └── WireError         a protocol line that is not a message
    ├── ParamError            a value outside its parameter's bounds           (exit 3)
    ├── GraphError            an edit that would break the graph               (exit 1)
    ├── SaveError             a file that could not be written                 (exit 3)
    │   ├── NoRoomError       a run that needs more of the disk than is free
    │   ├── UnconfirmedSaveError  saved, but the disk did not confirm it
    │   ├── LinkFoundError    a link where the program's own file belongs
    │   └── FileChangedError  not saved: the file is no longer the one that was read
    ├── RegistryError         a plug-in file that breaks its contract          (exit 4)
    └── RunError              a training, or a worker, that ended badly        (exit 4)
        ├── MissingPartError  a part of Workbench that is not installed
        ├── OutOfMemoryError  the memory was not enough for it
        ├── DeadlineError     a child process that did not answer in time
        ├── ChildDiedError    a child process that ended without an answer
        ├── RemoteError       another computer, or the line to it
        └── TpuError          a TPU that is missing, busy, gone or of the wrong kind

Every error says what happened, where, what was received, what was expected and how to
fix it; the parts that do not apply stay empty.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, ClassVar


class WorkbenchError(Exception):
    """Base of all errors that are reported to people.

    Args:
        what: One sentence that names the problem, without a code.
        where: The file, node, parameter or key it is about.
        received: The value that was found.
        expected: The values that would have been right.
        fix: What the reader can do next.
    """

    exit_code: ClassVar[int] = 4

    def __init__(
        self, what: str, *, where: str = "", received: str = "", expected: str = "", fix: str = ""
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.received = received
        self.expected = expected
        self.fix = fix

    def __str__(self) -> str:
        parts = [self.what]
        if self.where:
            parts.append(f"Where: {self.where}.")
        if self.received:
            parts.append(f"Received: {self.received}.")
        if self.expected:
            parts.append(f"Expected: {self.expected}.")
        if self.fix:
            parts.append(self.fix)
        return " ".join(parts)

    @property
    def brief(self) -> str:
        """What happened, and what can be done: where one of several places has the whole."""
        return " ".join(filter(None, (self.what, self.fix)))

    def to_dict(self) -> dict[str, str]:
        """The five parts by name, as the command line's JSON and the protocol carry them."""
        return {
            "what": self.what,
            "where": self.where,
            "received": self.received,
            "expected": self.expected,
            "fix": self.fix,
        }


class UsageError(WorkbenchError):
    """Wrong words on the command line."""

    exit_code = 2


class InputError(WorkbenchError):
    """A file or folder that cannot be read or does not hold what it should."""

    exit_code = 3


class ProjectFileError(InputError):
    """A project file that cannot be opened; the file itself is never touched."""


class PictureError(InputError):
    """An image that cannot be decoded.

    Args:
        what, parts: As everywhere.
        part: Key of the part of Workbench, not installed here, that decodes it; "" for none.
    """

    def __init__(self, what: str, *, part: str = "", **parts: str) -> None:
        super().__init__(what, **parts)
        self.part = part


class DatasetError(InputError):
    """A source of images and labels that cannot be used."""


class DataNotFoundError(DatasetError):
    """There is nothing at the path of a data set, which `where` is: it may have been moved."""


class DownloadError(InputError):
    """A file of the internet that could not be fetched, or that is not the one expected."""


class WeightsError(InputError):
    """A weights file that does not fit the network; the network keeps its old weights."""


class LayerOrderError(WeightsError):
    """A file does not say which of some equal layers is which: the user may take its order."""


class ClassOrderError(WeightsError):
    """Neither a file nor the images say in which order its classes are: the user has to."""


class NeedsTensorFlowError(InputError):
    """A model that only TensorFlow computes: ONNX Runtime does not, or not equally."""


class RunFolderError(InputError):
    """A run folder that is missing, incomplete or damaged."""


class WireError(InputError):
    """A line between two processes that is not a message of the protocol."""


class ParamError(WorkbenchError):
    """A value outside its parameter's bounds."""

    exit_code = 3


class GraphError(WorkbenchError):
    """An edit that would break the graph (a cycle, a taken port, an unknown node)."""

    exit_code = 1


class SaveError(WorkbenchError):
    """A file that could not be written; the file that was there before is unchanged."""

    exit_code = 3


class NoRoomError(SaveError):
    """A run is estimated to need more of the disk than is free; it was not started."""


class UnconfirmedSaveError(SaveError):
    """The new file is in place and reads well, but the disk did not confirm that it would
    survive a power cut.
    """


class LinkFoundError(SaveError):
    """A link where a file or folder of the program's own belongs: nothing is written through it,
    and it is left alone.
    """


class FileChangedError(SaveError):
    """Another program has changed the file since it was read or written here."""


class RegistryError(WorkbenchError):
    """A plug-in file that breaks its contract: found by tests, not by users."""


class RunError(WorkbenchError):
    """A training run or a worker process that ended badly."""


class MissingPartError(RunError):
    """A part of Workbench that is not installed, see `parts`."""


class OutOfMemoryError(RunError):
    """The memory was not enough for a training, or for a worker."""


class DeadlineError(RunError):
    """A child process that did not answer in time, and was ended."""


class ChildDiedError(RunError):
    """A child process that ended without an answer.

    Args:
        what, parts: As everywhere.
        is_killed: From outside, as where memory is short.
    """

    def __init__(self, what: str, *, is_killed: bool = False, **parts: str) -> None:
        super().__init__(what, **parts)
        self.is_killed = is_killed


class RemoteError(RunError):
    """Another computer could not be reached, refused, or could not do what was requested.

    Args:
        what, parts: As everywhere.
        key: Short word for programs, e.g. "host_key_unknown".
        is_passing: The same may succeed a little later: the line was cut, the computer is off.
    """

    def __init__(self, what: str, *, key: str = "", is_passing: bool = False, **parts: str) -> None:
        super().__init__(what, **parts)
        self.key = key
        self.is_passing = is_passing


class TpuError(RunError):
    """A TPU that is missing, busy, gone, too small or not for TensorFlow."""


@contextlib.contextmanager
def os_errors_as(
    kind: type[WorkbenchError], what: str, where: object, **parts: Any
) -> Iterator[None]:
    """Raises an OSError as a `kind`, with the system's words as what was received."""
    try:
        yield
    except OSError as error:
        received = (error.strerror or str(error))[:300]
        raise kind(what, where=str(where), received=received, **parts) from error
