"""Making another computer ready: environment, code and data sets.

Each is identified by its sha256 and sent once. Each step may be repeated at any time: what is there
is found by its content, what was cut off goes on where it stopped.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, Any

import msgspec

import workbench
from workbench import assets
from workbench.assets import resource_path
from workbench.backbones import backbone_keys, checked_file, known_backbone
from workbench.core.format import bytes_text
from workbench.core.projects.project import Choice
from workbench.core.projects.project_file import project_text
from workbench.core.projects.texts import limits_of
from workbench.core.storage.foreign_file import REQUEST_BYTES, open_foreign, read_foreign
from workbench.errors import DatasetError, RemoteError, RunError, SaveError, os_errors_as
from workbench.host.wire import CHUNK
from workbench.processes.child import Child
from workbench.protocol.service_call import worker_command, worker_environment
from workbench.remote.ssh.command import plain
from workbench.remote.ssh.connection import Connection
from workbench.runs.environment import known_target
from workbench.runs.folder import RunFolder
from workbench.runs.link import read_remote
from workbench.runs.log.confusion_history import NAME as CONFUSIONS_NAME
from workbench.runs.model_card import CARD_NAME, WEIGHTS_NAME
from workbench.runs.store.checkpoint import ORIGIN_NAME
from workbench.runs.store.image_features import REFERENCES_NAME
from workbench.targets import all_targets
from workbench.targets.ssh import trains_on

# code archive --------------------------------------------------------------------------------
# What another computer needs of the application to train: no window, no Qt, and of the resources
# the pretrained networks alone.

PACKAGES = (
    "core",
    "alterations",
    "coach",
    "curves",
    "hardware",
    "host",
    "processes",
    "downloads",
    "pictures",
    "programs",
    "onnx",
    "layers",
    "backbones",
    "datasets",
    "targets",
    "exports",
    "protocol",
    "settings",
    "runs",
    "inference",
    "worker",
)
"""Whole packages; tests/remote/setup/test_setup.py checks that the trainer imports nothing else."""

MODULES = ("__init__.py", "errors.py", "assets.py", "parts.py")

_ROOT = Path(workbench.__file__).resolve().parent
_BACKBONES = "backbones"  # folder of the resources
_DATE = (1980, 1, 1, 0, 0, 0)


@lru_cache(maxsize=2)
def code_archive(backbones: tuple[str, ...] = ()) -> tuple[str, bytes]:
    """sha256 and bytes of the archive: the same for the same sources, whenever it is made.

    Args:
        backbones: Pretrained networks whose weights are sent along. Their layers always are.

    Raises:
        WeightsError: weights are missing or damaged, or of no network that this version has.
    """
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path in _sources():
            _add_file(archive, path.relative_to(_ROOT).as_posix(), path, zipfile.ZIP_DEFLATED)
        for path in sorted(resource_path(_BACKBONES).glob("*.json")):
            _add_file(archive, f"_resources/{_BACKBONES}/{path.name}", path, zipfile.ZIP_DEFLATED)
        for path in (checked_file(known_backbone(key)) for key in backbones):
            # Numbers that look like noise: packing them would only take time.
            _add_file(archive, f"_resources/{_BACKBONES}/{path.name}", path, zipfile.ZIP_STORED)
    return hashlib.sha256(data.getvalue()).hexdigest(), data.getvalue()


def _sources() -> Iterator[Path]:
    yield from (_ROOT / name for name in MODULES)
    for package in PACKAGES:
        found = (_ROOT / package).rglob("*")
        yield from sorted(path for path in found if path.suffix in {".py", ".toml"})


def _add_file(archive: zipfile.ZipFile, name: str, path: Path, packing: int) -> None:
    info = zipfile.ZipInfo(f"workbench/{name}", _DATE)
    info.compress_type = packing
    info.create_system = 3
    info.external_attr = 0o600 << 16
    archive.writestr(info, path.read_bytes())


# dataset bundle ------------------------------------------------------------------------------
# The images of a run as one file, made by a worker: a source may need Keras to load.

OnProgress = Callable[[str, float], None]


@dataclass(frozen=True)
class Parcel:
    """A packed data set on this computer."""

    sha: str
    path: Path
    size: int


_made: dict[Path, Parcel] = {}
"""What this process has packed, by the run's folder: after a lost connection it is
requested again, and packing may take longer than a connection lasts."""


def make_parcel(run: RunFolder, on_progress: OnProgress) -> Parcel:
    """Packs what a run trains on, once in a process; the same images give the same file.

    Calls `on_progress` with words and a fraction (negative: unknown). Raises DatasetError where
    the images cannot be loaded, RunError where the worker ended without an answer.
    """
    known = _made.get(run.path)
    if known is not None and known.path.is_file():
        return known
    _made[run.path] = _packed(run, on_progress)
    return _made[run.path]


def _packed(run: RunFolder, on_progress: OnProgress) -> Parcel:
    progress = ("Loading the images", -1.0)
    with Child(
        worker_command("pack", str(run.path)),
        name="the worker that packs the images",
        environment=worker_environment(),
        order=b"",
        check=lambda: on_progress(*progress),  # again also while it is silent: it may be called off
    ) as child:
        for line in child.lines():
            said = msgspec.json.decode(line, type=dict[str, Any])
            if "error" in said:
                raise DatasetError(**said["error"])
            if "parcel" in said:
                return Parcel(said["parcel"], Path(said["path"]), said["bytes"])
            known = said.get("fraction")
            progress = said["progress"], -1.0 if known is None else known
            on_progress(*progress)
        death = child.death()
    raise RunError(
        "The images could not be packed for the other computer.",
        where=str(run.path),
        received=death.received or death.what,
    )


# state archive -------------------------------------------------------------------------------
# A run's log and checkpoints as one file, for another computer that goes on with it.

_NAMES = (
    "events.jsonl",
    WEIGHTS_NAME,
    CARD_NAME,
    REFERENCES_NAME,
    CONFUSIONS_NAME,
    ORIGIN_NAME,
)


@dataclass(frozen=True)
class PackedState:
    """An archive while it is open."""

    file: IO[bytes]
    sha: str
    size: int


def piece_of(file: IO[bytes], offset: int) -> bytes:
    """The next bytes of a file from a place on."""
    file.seek(offset)
    return file.read(CHUNK)


@contextlib.contextmanager
def packed_state(run: RunFolder) -> Iterator[PackedState | None]:
    """The archive of a run that is not being written; None for one with an empty log.

    The same files give the same archive. It is on the disk while this is entered; SaveError.
    """
    if not run.events_path.exists() or not run.events_path.stat().st_size:
        yield None
        return
    with contextlib.ExitStack() as stack:
        what = "The checkpoints of the run cannot be packed for the other computer."
        with os_errors_as(SaveError, what, run.path, fix="Free some disk space."):
            packed = _pack(run, stack.enter_context(tempfile.TemporaryFile(dir=run.path)))
        yield packed


def _pack(run: RunFolder, file: IO[bytes]) -> PackedState:
    paths = [run.path / name for name in _NAMES] + sorted(run.checkpoints_path.glob("*.npz"))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for path in paths:
            if path.is_file():
                _add(archive, path, path.relative_to(run.path).as_posix())
    size = file.seek(0, 2)
    file.seek(0)
    return PackedState(file, hashlib.file_digest(file, "sha256").hexdigest(), size)  # type: ignore[arg-type]


def _add(archive: zipfile.ZipFile, path: Path, name: str) -> None:
    info = zipfile.ZipInfo(name, _DATE)
    info.file_size = path.stat().st_size
    with archive.open(info, "w", force_zip64=True) as target, open_foreign(path) as source:
        while data := source.read(CHUNK):
            target.write(data)


# setup ---------------------------------------------------------------------------------------
# Making another computer ready to train: what is there is checked, what is missing is made.
#
# Each step may be done again at any time: what is there already is found by its content, what
# was cut goes on where it stopped.

UNKNOWN = -1.0
"""The fraction of a step of unknown length."""

_SENT = {"code": "the program", "parcel": "the images", "state": "the checkpoints"}

_WANTED: Mapping[str, Sequence[tuple[int, int]]] = {
    "worker": ((3, 11), (3, 12), (3, 13)),
    "tpu": ((3, 11),),
    "gpu": ((3, 11),),
}
"""Versions of Python that each list of packages is for, the best first."""

NEEDED_BYTES = {"worker": 3_000_000_000, "tpu": 3_500_000_000, "gpu": 9_000_000_000}
"""Disk space for making an environment, temporary files included."""


@dataclass(frozen=True)
class Prepared:
    """A run that is ready to be started on another computer.

    Attributes:
        run: Its name there.
        path: Its folder there.
        code, parcel, environment: sha256 of what it uses there; "" for what is not ours.
        has_state: It began elsewhere, and its log and checkpoints were sent.
    """

    run: str
    path: str
    code: str
    parcel: str
    environment: str
    has_state: bool = False


class Setup:
    """The steps, each by itself and in their order. `on_progress` is called with words and a
    fraction, or UNKNOWN. All raise RemoteError where the connection was lost, or the answer is
    none.
    """

    def __init__(self, line: Connection, on_progress: OnProgress) -> None:
        self._line = line
        self._on_progress = on_progress

    def probe(self, python: str = "") -> dict[str, Any]:
        """The facts of `workbench.host.probe`, with all texts made plain."""
        self._on_progress("Checking the other computer", UNKNOWN)
        data = self._line.call("probe", python=python).data
        try:
            facts: dict[str, Any] = _plain(msgspec.json.decode(data, type=dict[str, Any]))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _no_answer(self._line, data) from error
        return facts

    def environment(self, name: str, facts: Mapping[str, Any]) -> tuple[str, str]:
        """Makes the Python environment of a lock file (worker, tpu or gpu), or finds it made.

        Returns its interpreter, and the sha256 of the list of packages. Raises RemoteError where
        there is no fitting Python, no room, or the packages cannot be had.
        """
        lock = assets.environment_lock(name).read_bytes()
        sha = hashlib.sha256(lock).hexdigest()
        python = "python3"
        made = facts.get("environments")
        if not any(isinstance(e, dict) and e.get("sha") == sha for e in made or ()):
            python = fitting_python(name, facts, self._line.name)
            _check_room(name, facts, self._line.name)
            self._on_progress("Creating the Python environment there", UNKNOWN)
        answer = self._line.call(
            "environment", lock, on_progress=self._on_progress, name=name, sha=sha, python=python
        )
        return answer.text("python"), sha

    def code(self, backbones: tuple[str, ...] = ()) -> str:
        """Sends the application's own sources, with the weights of pretrained networks by their
        keys; returns their sha256. Also raises WeightsError.
        """
        sha, data = code_archive(backbones)
        self._send("code", sha, len(data), lambda offset: data[offset : offset + CHUNK])
        return sha

    def parcel(self, run: RunFolder) -> str:
        """Packs and sends the images of a run; returns their sha256. Also raises DatasetError."""
        parcel = make_parcel(run, self._on_progress)
        what = "The packed images cannot be read."
        with (
            os_errors_as(RemoteError, what, parcel.path, key="parcel"),
            open_foreign(parcel.path) as file,
        ):
            self._send("parcel", parcel.sha, parcel.size, partial(piece_of, file))
        return parcel.sha

    def state(self, run: RunFolder) -> str:
        """Sends a run's log and checkpoints; returns their sha256, "" for none; SaveError."""
        with packed_state(run) as packed:
            if packed is None:
                return ""
            self._send("state", packed.sha, packed.size, partial(piece_of, packed.file))
            return packed.sha

    def create(
        self,
        run: RunFolder,
        inner: Choice,
        *,
        name: str,
        code: str,
        python: str,
        parcel: str,
        state: str,
    ) -> tuple[str, str]:
        """Makes the run there under a name, to train on `inner`; returns its name and folder there.

        `code`, `parcel` (or "") and `state` (or "": what it has kept before) are the sha256 of what
        was sent.
        """
        answer = self._line.call(
            "create",
            request_there(run, inner, parcel=parcel, on=self._line.name),
            is_longer=bool(run.extensions().entries),
            name=name,
            code=code,
            python=python,
            parcel=parcel,
            state=state,
        )
        return answer.text("run"), answer.text("path")

    def _send(self, kind: str, sha: str, size: int, piece: Callable[[int], bytes]) -> None:
        """Sends what is missing; another line may be sending the same, piece by piece."""
        words = f"Sending {_SENT[kind]}"
        while True:
            there = self._line.call("have", kind=kind, sha=sha, size=size)
            if there.flag("is_whole"):
                return
            offset = there.number("offset")
            try:
                while offset < size and (data := piece(offset)):
                    done = f"{offset / 1e6:,.0f} of {size / 1e6:,.0f} MB"
                    self._on_progress(f"{words}, {done}", offset / size)
                    answer = self._line.call("put", data, kind=kind, sha=sha, offset=offset)
                    offset = answer.number("offset")
                self._on_progress(f"{words}: unpacking", UNKNOWN)
                self._line.call("commit", kind=kind, sha=sha, on_progress=self._on_progress)
            except RemoteError as error:
                if error.key != "offset":
                    raise


def prepare(
    run: RunFolder, line: Connection, on_progress: OnProgress, *, python: str = "", name: str = ""
) -> Prepared:
    """Makes ready there whatever a run needs, and the run itself.

    Args:
        run: A run whose target is another computer.
        line: To that computer.
        on_progress: As of `Setup`.
        python: Interpreter there, where the target names none; "" for an environment of ours.
        name: The remote folder of a machine that joins, and gets the checkpoints from the
            chief; "" for the run's own.

    Raises:
        RemoteError: that computer cannot do it, or the connection was lost.
        DatasetError, UsageError, WeightsError: the run itself is wrong.
    """
    project = run.project()
    _, params = known_target(project.target)
    inner = trains_on(params)
    setup = Setup(line, on_progress)
    python, environment = params["python"] or python, ""
    if python:
        python = _own_python(setup.probe(python), python, line.name)
    else:
        needed = limits_of(inner, all_targets()).environment
        python, environment = setup.environment(needed, setup.probe())
    code = setup.code(backbone_keys(project.graph))
    parcel = setup.parcel(run) if params["data"] == "upload" else ""
    there, state = read_remote(run), ""
    if not name:
        state = setup.state(run) if there is None else ""
        name = name_there(run, state) if there is None else there.run
    name, path = setup.create(
        run, inner, name=name, code=code, python=python, parcel=parcel, state=state
    )
    return Prepared(name, path, code, parcel, environment, bool(state))


def name_there(run: RunFolder, state: str = "") -> str:
    """A run's name on another computer: its own, made one that no other run can have. With `state`
    (sha256 of what it has kept), a run that comes back gets another name than what was left there.
    """
    source = str(run.path).encode() + read_foreign(run.request_path, REQUEST_BYTES) + state.encode()
    mark = hashlib.sha256(source).hexdigest()
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in run.name)
    return f"{kept[:80].lstrip('-') or 'run'}-{mark[:12]}"


def request_there(run: RunFolder, inner: Choice, *, parcel: str, on: str) -> bytes:
    """A run's request as the other computer gets it: its own target, and no path of here."""
    request = run.request()
    project = replace(request.to_project(), target=inner)
    there = msgspec.structs.replace(
        request,
        project=msgspec.json.decode(project_text(project)),
        project_path="",
        parcel=parcel,
        on=on,
    )
    return msgspec.json.encode(there)


def fitting_python(name: str, facts: Mapping[str, Any], place: str) -> str:
    """The interpreter for a list of packages; raises RemoteError with a fix that installs one."""
    found = [p for p in facts.get("pythons") or () if isinstance(p, dict)]
    wanted = _WANTED[name]
    for version in wanted:
        for python in found:
            if python.get("version", [])[:2] == list(version) and python.get("has_venv"):
                return str(python.get("path", ""))
    words = [".".join(map(str, python.get("version", []))) for python in found]
    versions = ", ".join(f"{major}.{minor}" for major, minor in wanted)
    raise RemoteError(
        "The other computer has no suitable Python.",
        key="no_fitting_python",
        where=place,
        received="Python " + ", ".join(words) if words else "no Python",
        expected=f"Python {versions} with the venv package",
        fix="Install it there: sudo apt-get install -y python3.11 python3.11-venv",
    )


def _own_python(facts: Mapping[str, Any], python: str, place: str) -> str:
    """The interpreter that a person named, if it can train."""
    for found in facts.get("pythons") or ():
        versions = found.get("versions", {}) if isinstance(found, dict) else {}
        if "keras" in versions and {"tensorflow", "tensorflow-cpu", "tensorflow-tpu"} & set(
            versions
        ):
            return str(found.get("path", ""))
    raise RemoteError(
        "The given Python on the other computer cannot train.",
        key="no_fitting_python",
        where=f"{place} · {python}",
        expected="a Python there with TensorFlow and Keras",
        fix="Give another one, or none to install an environment there.",
    )


def _check_room(name: str, facts: Mapping[str, Any], place: str) -> None:
    free, needed = facts.get("free_bytes"), NEEDED_BYTES[name]
    if isinstance(free, int) and free < needed:
        raise RemoteError(
            "Not enough disk space on the other computer for the Python environment.",
            key="disk_full",
            where=place,
            received=f"{bytes_text(free)} free",
            expected=bytes_text(needed),
            fix="Free some space there, or give a Python there with TensorFlow and Keras.",
        )


def _plain(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, list) and depth < 8:
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, dict) and depth < 8:
        return {plain(str(key)): _plain(item, depth + 1) for key, item in value.items()}
    return value


def _no_answer(line: Connection, data: bytes) -> RemoteError:
    return RemoteError(
        "The response of the other computer is invalid.",
        key="protocol",
        where=line.name,
        received=plain(data[:200].decode("utf-8", "replace")),
    )
