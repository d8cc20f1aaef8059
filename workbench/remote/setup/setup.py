"""Making another computer ready to train: what is there is checked, what is missing is made.

Each step may be done again at any time: what is there already is found by its content, what
was cut goes on where it stopped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import msgspec

from workbench import assets
from workbench.backbones import backbone_keys
from workbench.core.format import bytes_text
from workbench.core.projects.project import Choice
from workbench.core.projects.project_file import project_text
from workbench.core.projects.target_text import limits_of
from workbench.core.storage.foreign_file import REQUEST_BYTES, open_foreign, read_foreign
from workbench.errors import RemoteError, os_errors_as
from workbench.host.wire import CHUNK
from workbench.remote.setup.code_archive import code_archive
from workbench.remote.setup.dataset_bundle import make_parcel
from workbench.remote.setup.state_archive import packed_state, piece_of
from workbench.remote.ssh.connection import Connection
from workbench.remote.ssh.faults import plain
from workbench.runs.environment import known_target
from workbench.runs.folder import RunFolder
from workbench.runs.link import read_remote
from workbench.targets import all_targets
from workbench.targets.ssh import trains_on

OnProgress = Callable[[str, float], None]
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
