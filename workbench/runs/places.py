"""Other computers that this user has agreed to connect to: by address, in the state folder.

A project or a run folder may come from elsewhere and name any address, of a target or of images.
Opening, listing and drawing it touch no network; an address is contacted once a person has
pressed something that names it, and is known from then on, for every project and run.

Known by address and not by run: a record of runs would grow with them, would be lost when a runs
folder is moved, and a run folder could be replaced by another of its name. Whatever is started
here goes through `check_known`, so a run that was started here names a known address, and
reconnects by itself at the next start. The file is beside the settings: nothing that arrives with
a runs folder adds to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from workbench.core.params import check_all
from workbench.core.projects.project import Choice
from workbench.core.storage.json_file import read_json, save_json
from workbench.datasets import all_datasets
from workbench.errors import RunError
from workbench.runs.environment import is_remote
from workbench.runs.folder import RunFolder
from workbench.runs.home import data_home, locked_record
from workbench.runs.link import read_remote
from workbench.targets import all_targets

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
    sealed (`runs.seal`), and refused otherwise. Nor is link.json, which nothing connects by.
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
