"""The optional compiler environment: Google's TPU compiler in a Python environment of its own.

Nothing of it is bundled. The person downloads it, is shown the license that came with it, and
installs it by naming that license's checksum. Packages and their hashes are pinned in
`resources/environments/compiler.lock`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from workbench.assets import environment_lock
from workbench.core.format import bytes_text
from workbench.core.storage.own_file import refuse_link, take_lock
from workbench.core.storage.save import save_bytes
from workbench.errors import InputError, SaveError, UsageError
from workbench.processes.installing import Check, OnProgress, run_to_end
from workbench.runs.home import cache_home, made_cache

DOWNLOAD_BYTES = 347_000_000
INSTALLED_BYTES = 1_300_000_000
_ROOM = 300_000_000  # beside it, so that the disk is not full afterwards
_DOWNLOAD_S, _INSTALL_S, _MAKE_S = 3600.0, 900.0, 300.0
_LICENSES = ("LICENSE", "LICENSE.txt", "LICENCE")
_LONGEST_LICENSE = 200_000


@dataclass(frozen=True)
class License:
    """The license that the downloaded compiler came with, and the sum that names it."""

    text: str
    sha256: str


class _Stamp(msgspec.Struct, frozen=True, kw_only=True):
    lock_sha256: str
    licence_sha256: str
    packages: dict[str, str]


class CompilerEnvironment:
    """One environment in the cache folder; everything of it can be removed at any time.

    Args:
        home: Its folder; the one of this user where None.
    """

    def __init__(self, home: Path | None = None) -> None:
        self.home = cache_home() / "compiler" if home is None else home
        self._wheels = self.home / "wheels"
        self._making = self.home / "making"
        self._environment = self.home / "environment"
        self._lock = environment_lock("compiler")

    # what is there -----------------------------------------------------------------------

    @property
    def python(self) -> Path:
        """The interpreter that has the compiler."""
        return self._environment / "bin" / "python"

    @property
    def packages(self) -> dict[str, str]:
        """Package -> version, as pinned."""
        names = (line.partition(" ")[0] for line in self._lock.read_text("utf-8").splitlines())
        pairs = (name.partition("==") for name in names if "==" in name)
        return {name: version for name, _, version in pairs if name in {"jax", "jaxlib", "libtpu"}}

    def why_not(self) -> str:
        """Why it cannot be had on this computer, in words; "" where it can."""
        if sys.platform != "linux" or platform.machine() not in {"x86_64", "AMD64"}:
            return "The TPU compiler is available for Linux on x86-64 only."
        return ""

    def is_installed(self) -> bool:
        """True when it is there, as pinned by this version of Workbench."""
        stamp = self._stamp()
        is_same = stamp is not None and stamp.lock_sha256 == self._lock_sha256()
        return is_same and self.python.exists()

    def is_downloaded(self) -> bool:
        """True when only the license is left to accept."""
        try:
            return (self._wheels / "complete").read_text("utf-8") == self._lock_sha256()
        except (OSError, UnicodeDecodeError):
            return False

    def size_bytes(self) -> int:
        """What it takes of the disk."""
        files = (path for path in self.home.rglob("*") if path.is_file() and not path.is_symlink())
        return sum(path.stat().st_size for path in files)

    def license(self) -> License:
        """The license inside the downloaded package of the compiler.

        Raises:
            InputError: nothing is downloaded, or there is no license in it.
        """
        wheels = sorted(self._wheels.glob("libtpu-*.whl")) if self.is_downloaded() else []
        for wheel in wheels:
            with _opened(wheel) as archive:
                for name in sorted(archive.namelist()):
                    if name.rpartition("/")[2] in _LICENSES:
                        with archive.open(name) as member:
                            data = member.read(_LONGEST_LICENSE)
                        text = data.decode("utf-8", "replace").strip()
                        return License(text, hashlib.sha256(data).hexdigest())
        raise InputError(
            "No license to show: the TPU compiler is not downloaded.",
            where=str(self._wheels),
            fix="Download it first: in the window by Run > “Will it train on a TPU?”, in a "
            "terminal by `workbench compiler install`.",
        )

    # changing it -------------------------------------------------------------------------

    def download(self, *, on_progress: OnProgress, check: Check) -> None:
        """Fetches the pinned packages; every file is compared with its hash.

        Args:
            on_progress: Called with what is being done, a line at a time.
            check: Called often; raises when the request is canceled. What is whole is kept.

        Raises:
            WorkbenchError: not on this computer, no room, no network, or a wrong file.
        """
        self._refuse_where_impossible()
        with self._alone():
            if self.is_downloaded():
                return
            self._remove(self._wheels)  # of another version, or not whole
            self._need_room(DOWNLOAD_BYTES + INSTALLED_BYTES)
            self._make_environment(on_progress, check)
            on_progress(f"Downloading about {DOWNLOAD_BYTES / 1e6:.0f} MB")
            self._pip(
                ["download", "--dest", str(self._wheels)],
                "The TPU compiler could not be downloaded.",
                deadline_s=_DOWNLOAD_S, on_progress=on_progress, check=check,
            )  # fmt: skip
            save_bytes(self._wheels / "complete", self._lock_sha256().encode())

    def install(self, accepted_sha256: str, *, on_progress: OnProgress, check: Check) -> None:
        """Installs what is downloaded, once its license has been read and accepted.

        Args:
            accepted_sha256: The license's checksum, as the person has confirmed it.
            on_progress: As of `download`.
            check: As of `download`.

        Raises:
            UsageError: another license than the one that came with it.
            WorkbenchError: it could not be installed; what was there before stays.
        """
        self._refuse_where_impossible()
        terms = self.license()
        if accepted_sha256.strip().lower() != terms.sha256:
            raise UsageError(
                "The accepted license is not the one of the TPU compiler.",
                where="--accept",
                received=accepted_sha256[:80],
                expected=terms.sha256,
                fix="Read the license that `workbench compiler install` shows.",
            )
        with self._alone():
            self._need_room(INSTALLED_BYTES)
            self._make_environment(on_progress, check)
            on_progress("Installing")
            self._pip(
                ["install", "--no-index", "--find-links", str(self._wheels)],
                "The TPU compiler could not be installed.",
                deadline_s=_INSTALL_S, on_progress=on_progress, check=check,
            )  # fmt: skip
            stamp = _Stamp(
                lock_sha256=self._lock_sha256(),
                licence_sha256=terms.sha256,
                packages=self.packages,
            )
            save_bytes(self._making / "installed.json", msgspec.json.encode(stamp))
            self._remove(self._environment)
            self._making.rename(self._environment)
            self._remove(self._wheels)

    def remove(self) -> int:
        """Removes all of it; returns how many bytes that has freed.

        Raises:
            SaveError: it could not be removed, or is being installed at this moment.
        """
        if not self.home.exists():
            return 0
        freed = self.size_bytes()
        with self._alone():
            self._remove(self.home)
        return freed

    # parts -------------------------------------------------------------------------------

    def _stamp(self) -> _Stamp | None:
        try:
            data = (self._environment / "installed.json").read_bytes()
            return msgspec.json.decode(data, type=_Stamp)
        except (OSError, msgspec.ValidationError, msgspec.DecodeError):
            return None  # not installed, or damaged: installed again

    def _lock_sha256(self) -> str:
        return hashlib.sha256(self._lock.read_bytes()).hexdigest()

    def _refuse_where_impossible(self) -> None:
        if words := self.why_not():
            raise UsageError(words, received=f"{platform.system()} {platform.machine()}")

    def _need_room(self, wanted: int) -> None:
        free = shutil.disk_usage(self.home).free
        if free < wanted + _ROOM:
            raise SaveError(
                "Not enough disk space for the TPU compiler.",
                where=str(self.home),
                received=f"{bytes_text(free)} free",
                expected=f"{bytes_text(wanted + _ROOM)} free",
            )

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Holds the folder's lock: two installations would write into each other."""
        made_cache(self.home)
        lock = take_lock(self.home / "lock")
        if lock is None:
            raise SaveError(
                "The TPU compiler is being installed or removed already.", where=str(self.home)
            )
        try:
            yield
        finally:
            os.close(lock)

    def _make_environment(self, on_progress: OnProgress, check: Check) -> None:
        """Makes a new, empty Python environment under a temporary name."""
        self._remove(self._making)
        on_progress("Creating a Python environment")
        run_to_end(
            [sys.executable, "-I", "-m", "venv", str(self._making)],
            "The Python environment could not be created.",
            deadline_s=_MAKE_S, on_progress=lambda line: None, check=check,
            fix="On Debian and Ubuntu, install the package python3-venv.",
        )  # fmt: skip

    def _pip(
        self,
        words: list[str],
        what: str,
        *,
        deadline_s: float,
        on_progress: OnProgress,
        check: Check,
    ) -> None:
        run_to_end(
            [str(self._making / "bin" / "python"), "-I", "-m", "pip", *words,
             "--disable-pip-version-check", "--no-input", "--progress-bar", "off",
             "--only-binary", ":all:", "--require-hashes", "--requirement", str(self._lock)],
            what,
            deadline_s=deadline_s, on_progress=on_progress, check=check,
            fix="Nothing was changed. Check the network connection and try again.",
        )  # fmt: skip

    def _remove(self, folder: Path) -> None:
        refuse_link(folder)
        try:
            if folder.exists():
                shutil.rmtree(folder)
        except OSError as error:
            raise SaveError(
                "A folder of the TPU compiler could not be removed.",
                where=str(folder),
                received=error.strerror or str(error),
            ) from error


@contextlib.contextmanager
def _opened(wheel: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(wheel) as archive:
            yield archive
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(
            "The downloaded TPU compiler is damaged.",
            where=str(wheel),
            received=str(error)[:200],
            fix="Remove it with `workbench compiler remove` and download it again.",
        ) from error
