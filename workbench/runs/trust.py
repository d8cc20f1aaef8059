"""Trust in run folders: addresses that may be contacted, and HMACs of what this user wrote here."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

import msgspec

from workbench.core.params import check_all
from workbench.core.projects.project import Choice
from workbench.core.storage.foreign_file import REQUEST_BYTES, read_foreign
from workbench.core.storage.json_file import read_json, save_json
from workbench.core.storage.own_file import make_private, take_lock
from workbench.core.storage.save import save_bytes
from workbench.datasets import all_datasets
from workbench.errors import RunError, SaveError, os_errors_as
from workbench.hardware.cluster import CLUSTER_NAME, Cluster
from workbench.runs.environment import is_remote
from workbench.runs.folder import RunFolder
from workbench.runs.home import data_home, locked_record
from workbench.runs.link import read_remote
from workbench.targets import all_targets

# places --------------------------------------------------------------------------------------
# Other computers that this user has agreed to connect to: by address, in the state folder.
#
# A project or a run folder may come from elsewhere and name any address, of a target or of images.
# Opening, listing and drawing it touch no network; an address is contacted once a person has
# pressed something that names it, and is known from then on, for every project and run.
#
# Known by address and not by run: a record of runs would grow with them, would be lost when a runs
# folder is moved, and a run folder could be replaced by another of its name. Whatever is started
# here goes through `check_known`, so a run that was started here names a known address, and
# reconnects by itself at the next start. The file is beside the settings: nothing that arrives with
# a runs folder adds to it.

_NAME = "known-places.json"
_NOT_SAVED = "The known addresses could not be saved."


class _KnownPlaces(msgspec.Struct, frozen=True):
    addresses: list[str] = []
    version: int = 1


class UnknownPlaceError(RunError):
    """Targets or data sets with addresses that have not been confirmed here.

    Attributes:
        targets: All of them that what was to be done connects to.
    """

    targets: tuple[Choice, ...] = ()


def addresses_of(target: Choice) -> tuple[str, ...]:
    """The addresses that training on a target, or checking it, connects to, or that loading a data
    set does; none where it stays on this computer, or its values are not allowed: nothing is done
    with those.
    """
    spec = all_targets().get(target.key) or all_datasets().get(target.key)
    if spec is None:
        return ()
    params, errors = check_all(spec.params, target.params)
    return () if errors else tuple(spec.addresses(params))


def place_words(*targets: Choice) -> str:
    """The addresses of targets as a button names them; "" for none."""
    return ", ".join(_addresses_of_all(targets))


def _addresses_of_all(targets: Sequence[Choice]) -> list[str]:
    return list(dict.fromkeys(one for target in targets for one in addresses_of(target)))


def place_of(run: RunFolder) -> Choice:
    """Target on which a run is or will be trained; raises RunFolderError, ProjectFileError."""
    remote = read_remote(run)
    return remote.choice() if remote is not None else run.project().target


def places_of(run: RunFolder) -> tuple[Choice, ...]:
    """All that starting a run connects to: its target, or where it is on another computer, and its
    data set. Errors as of `place_of`. A target that this version does not know connects nowhere.

    What its folder says of other machines (cluster.json) is not among it: that is used where it is
    sealed (`runs.trust`), and refused otherwise. Nor is link.json, which nothing connects by.
    """
    project = run.project()
    if project.target.key not in all_targets() or not is_remote(project.target):
        return project.target, project.dataset
    found = (place_of(run), project.target, project.dataset)
    return tuple(one for number, one in enumerate(found) if one not in found[:number])


def is_known(*targets: Choice) -> bool:
    """Whether a person has agreed to connect to all addresses of targets."""
    wanted = {one for target in targets for one in addresses_of(target)}
    return not wanted or wanted <= set(_read())


def check_known(*targets: Choice) -> None:
    """Raises UnknownPlaceError, with all addresses, where one of them has not been agreed to."""
    if is_known(*targets):
        return
    unknown = tuple(target for target in targets if not is_known(target))
    words = place_words(*unknown)
    is_data = all(target.key in all_datasets() for target in unknown)
    once = " Load its images once in the Data view, or type it: workbench data check SOURCE."
    error = UnknownPlaceError(
        f"Connect to {words}?",
        where=words,
        expected="addresses that you know: they came with a file"
        if len(_addresses_of_all(unknown)) > 1
        else "an address that you know: it came with a file",
        fix=f"Connect only if you know {words}. The answer is remembered.{once * is_data}",
    )
    error.targets = unknown
    raise error


def remember(*targets: Choice) -> None:
    """A person has pressed or typed something that names the addresses; raises SaveError."""
    if is_known(*targets):
        return
    with locked_record(_NAME, _NOT_SAVED) as path:
        new = [one for target in targets for one in addresses_of(target)]
        known = dict.fromkeys([*_read(), *new])
        save_json(path, _KnownPlaces(list(known)), is_private=True)


def forget(address: str) -> bool:
    """Nobody has agreed to connect to this address any more; returns whether somebody had. Raises
    SaveError.
    """
    if address not in _read():
        return False
    with locked_record(_NAME, _NOT_SAVED) as path:
        left = [known for known in _read() if known != address]
        save_json(path, _KnownPlaces(left), is_private=True)
    return True


def _read() -> list[str]:
    path: Path = data_home() / _NAME
    return (read_json(path, _KnownPlaces) or _KnownPlaces()).addresses


# seal ----------------------------------------------------------------------------------------
# HMACs that prove what was written on this computer by this user, and did not come along.
#
# A run folder from elsewhere may hold a marker of the queue, or name machines to train with; what
# it requests must not start, and where it says must not be connected to, by itself. What was kept
# here carries a keyed checksum of its content. The key is in the state folder, not among the runs,
# so it does not travel with them.

KEY_NAME = "queue.key"
CLUSTER_SEAL_NAME = "cluster.seal"
_KEY_BYTES = 32


def seal(purpose: str, *parts: bytes) -> str:
    """The mark of some content that is kept for one purpose; SaveError where no key can be kept."""
    return _mark(_read_key() or _make_key(), purpose, parts)


def is_sealed(mark: str, purpose: str, *parts: bytes) -> bool:
    """Whether a mark is that of this user, this purpose and this content."""
    key = _read_key()
    return bool(key and mark) and hmac.compare_digest(
        _mark(key, purpose, parts).encode(), mark.encode(errors="replace")
    )


def undo_key(nonce: str) -> bytes:
    """The user's key for an undo file (`pictures.sorting`); b"" where no key can be kept."""
    try:
        return bytes.fromhex(seal("undo", nonce.encode()))
    except SaveError:
        return b""


def _mark(key: bytes, purpose: str, parts: tuple[bytes, ...]) -> str:
    digest = hmac.new(key, purpose.encode(), digestmod=hashlib.sha256)
    for part in parts:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def request_parts(run: RunFolder) -> tuple[bytes, ...]:
    """What of a run says what is trained and where: the content of a mark of it."""
    return tuple(_content(path) for path in (run.request_path, run.target_path))


def seal_cluster(run: RunFolder) -> None:
    """Marks the machines that a run's folder names as named by this user: what has written them
    was requested over a line of their own. Raises SaveError.
    """
    cluster = _cluster_bytes(run)
    if cluster is not None:
        mark = seal(CLUSTER_NAME, cluster, *request_parts(run)[:1])
        save_bytes(run.path / CLUSTER_SEAL_NAME, mark.encode())


def sealed_cluster(run: RunFolder) -> Cluster | None:
    """The machines that a run's folder names; None where it names none.

    Raises:
        RunError: they are not those that were named here by this user (the folder came from
            elsewhere), or no description of machines.
    """
    cluster = _cluster_bytes(run)
    if cluster is None:
        return None
    mark = _content(run.path / CLUSTER_SEAL_NAME).decode(errors="replace")
    if is_sealed(mark, CLUSTER_NAME, cluster, *request_parts(run)[:1]):
        return Cluster.from_text(cluster.decode(errors="replace"))
    named = ""
    with contextlib.suppress(RunError):
        named = ", ".join(Cluster.from_text(cluster.decode(errors="replace")).machines)
    raise RunError(
        "The run's folder names machines to train with that were not named on this computer.",
        where=str(run.path / CLUSTER_NAME),
        received=named[:2000] or "no description of machines",
        expected="machines that you have started the run on from your own computer",
        fix=f"Nothing has been contacted. If the folder came from elsewhere, delete {CLUSTER_NAME} "
        "in it; if you have started the run from another computer, resume it there.",
    )


def _cluster_bytes(run: RunFolder) -> bytes | None:
    path = run.path / CLUSTER_NAME
    try:
        return read_foreign(path, REQUEST_BYTES, follows_links=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunError(
            "The description of the machines cannot be read.",
            where=str(path),
            received=error.strerror or str(error),
            fix=f"Delete {CLUSTER_NAME} from the run's folder.",
        ) from error


def _content(path: Path) -> bytes:
    """The content of a file; empty where it cannot be read."""
    try:
        return read_foreign(path, REQUEST_BYTES, follows_links=False)
    except OSError:
        return b""


def _read_key() -> bytes:
    """The key; empty where there is none yet, or none that is whole."""
    try:
        key = read_foreign(data_home() / KEY_NAME, _KEY_BYTES)
    except OSError:
        return b""
    return key if len(key) == _KEY_BYTES else b""


def _make_key() -> bytes:
    """Makes the key, under the lock of its file: another process may be faster. One that is not
    whole, as a full disk leaves it, is replaced; SaveError.
    """
    path = data_home() / KEY_NAME
    what, fix = "The queue cannot be used.", "Make the settings folder writable."
    with os_errors_as(SaveError, what, path, fix=fix):
        make_private(path.parent)
        descriptor = take_lock(path)
        if descriptor is None:
            raise TimeoutError(errno.ETIMEDOUT, "another process has locked it")
        with os.fdopen(descriptor, "r+b") as file:
            key = file.read(_KEY_BYTES + 1)
            if len(key) != _KEY_BYTES:
                key = secrets.token_bytes(_KEY_BYTES)
                os.fchmod(descriptor, 0o600)
                file.truncate(0)
                file.seek(0)
                file.write(key)
    return key
