"""A bundle: a project, its runs and the images it uses, in one ZIP file that opens elsewhere.

NAME.workbench      the project, whose images are in `images`
images/0, 1, ...    each file or folder that its data set names
runs/FOLDER         each run, without what belongs to its process or to another computer
bundle.json         what is in it, see `BundleFacts`
LICENSES.txt        the licenses of published images and of pretrained weights

Images are stored as they are, byte by byte: what is known of them by content stays true.
"""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, NoReturn, cast

import msgspec

from workbench.backbones import all_backbones, backbone_keys
from workbench.core.format import bytes_text, list_text, path_text, plural
from workbench.core.params import PathParam, PathsParam
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import PROJECT_SUFFIX, project_text, read_project
from workbench.core.storage.foreign_file import open_foreign, size_of
from workbench.core.storage.save import Sink, save_stream
from workbench.datasets import all_datasets
from workbench.errors import DataNotFoundError, DatasetError, RunError, os_errors_as
from workbench.hardware.cluster import CLUSTER_NAME
from workbench.runs.folder import RunFolder
from workbench.runs.home import runs_home
from workbench.runs.library.index import RunSummary, list_runs
from workbench.runs.library.projects import OpenProject
from workbench.runs.moved_data import place_now
from workbench.runs.state.queue import MARKER_NAME
from workbench.runs.trust import CLUSTER_SEAL_NAME

BUNDLE_SUFFIX = ".workbundle"
BUNDLE_VERSION = 1
FACTS_NAME, LICENSES_NAME = "bundle.json", "LICENSES.txt"
IMAGES, RUNS = "images", "runs"

_RUN = RunFolder(Path())
_LEFT_OUT = {
    *(_RUN.lock_path.name, _RUN.control_path.name, _RUN.sender_path.name, _RUN.retry_path.name),
    *(_RUN.link_path.name, _RUN.remote_path.name, _RUN.mirror_log_path.name),
    *(MARKER_NAME, CLUSTER_NAME, CLUSTER_SEAL_NAME),
}
"""What belongs to the process of a run, to the queue, or to other computers."""
_OWN_IMAGES = "of the person who made this bundle. Ask before you pass them on."
_PIECE = 1 << 20
_MAX_NAME_BYTES = 255
_STORED = zipfile.ZIP_STORED

Step = Callable[[str, float], object]
"""Called with what is being done and how far it is, 0 to 1; may raise to end it."""


class BundleFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a bundle holds.

    Attributes:
        project: The file name of the project.
        places: For each path that runs name their images by, where those are in the bundle.
        runs: The folders of runs.
    """

    format: str = "workbench-bundle"
    version: int = BUNDLE_VERSION
    project: str
    places: dict[str, str] = {}
    runs: list[str] = []


@dataclass(frozen=True)
class BundlePlan:
    """What would be written; nothing is yet.

    Attributes:
        project: The project as it is written.
        facts: What the bundle says of itself.
        files: Each file on the disk, by its name in the bundle.
        num_bytes: Size of all files.
        num_images: Files of images among them.
        remarks: What is left out, in sentences.
    """

    project: Project
    facts: BundleFacts
    files: Mapping[str, Path]
    num_bytes: int = 0
    num_images: int = 0
    remarks: tuple[str, ...] = ()

    def words(self) -> str:
        """What is in it, and how large it is."""
        parts = [
            "the project",
            plural(len(self.facts.runs), "run"),
            plural(self.num_images, "image file"),
        ]
        return f"{list_text(parts)}: {bytes_text(self.num_bytes)}. {' '.join(self.remarks)}".strip()


@dataclass
class _Found:
    files: dict[str, Path] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def plan_bundle(path: Path, *, home: Path | None = None, has_runs: bool = True) -> BundlePlan:
    """What a bundle of a saved project holds: its runs of the runs folder (the user's where None),
    but for those that train.

    Raises:
        ProjectFileError: it cannot be read.
        DatasetError: its images are not there, cannot be listed, or cannot be put into a bundle.
        RunError: its runs cannot be listed.
    """
    project = read_project(path)
    found = _Found()
    with os_errors_as(DatasetError, "The images cannot be listed.", path):
        params = _pack_images(project.dataset, found)
    num_images = len(found.files)
    whole = replace(project, dataset=replace(project.dataset, params=params))
    with os_errors_as(RunError, "The runs cannot be listed.", path):
        names = _pack_runs(project, path, home or runs_home(), found) if has_runs else []
        num_bytes = sum(each.stat().st_size for each in found.files.values())
    return BundlePlan(
        project=whole,
        facts=BundleFacts(project=_file_name(path), places=found.places, runs=names),
        files=found.files,
        num_bytes=num_bytes,
        num_images=num_images,
        remarks=tuple(found.remarks),
    )


def write_bundle(plan: BundlePlan, out: Path, step: Step = lambda _words, _at: None) -> None:
    """Writes a bundle, whole or not at all. Raises SaveError, RunError where a file cannot be read
    or has changed meanwhile, and what `step` raises.
    """

    def write(sink: Sink) -> None:
        with zipfile.ZipFile(cast("IO[bytes]", sink), "w", _STORED) as archive:  # it only writes
            archive.writestr(FACTS_NAME, msgspec.json.format(msgspec.json.encode(plan.facts)))
            archive.writestr(plan.facts.project, project_text(plan.project))
            archive.writestr(LICENSES_NAME, license_text(plan.project))
            _write_files(archive, plan, step)

    save_stream(out, write)


def _write_files(archive: zipfile.ZipFile, plan: BundlePlan, step: Step) -> None:
    done = 0
    for name, path in plan.files.items():
        info = zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0))
        info.external_attr = (stat.S_IFREG | 0o644) << 16
        with os_errors_as(RunError, "A file cannot be read.", path_text(str(path))):
            file = open_foreign(path, follows_links=False)
        with file:
            size = info.file_size = size_of(file)
            with archive.open(info, "w", force_zip64=True) as target:
                while data := file.read(_PIECE):
                    step("Writing the bundle", min(1.0, done / max(1, plan.num_bytes)))
                    target.write(data)
                    done += len(data)
        if archive.getinfo(name).file_size != size:
            raise RunError(
                "A file changed while it was bundled.", where=str(path), fix="Try again."
            )


def is_plain(part: str) -> bool:
    """Whether a file or folder of a bundle may have this name."""
    try:
        size = len(part.encode())
    except UnicodeEncodeError:
        return False
    is_text = part.isprintable() and "\\" not in part
    return is_text and 0 < size <= _MAX_NAME_BYTES and not part.startswith(".")


def license_text(project: Project) -> str:
    """The licenses of what is not the user's own."""
    spec = all_datasets().get(project.dataset.key)
    images = spec.license if spec is not None else ""
    lines = [f"Images: {images or _OWN_IMAGES}"]
    for key in sorted(backbone_keys(project.graph)):
        backbone = all_backbones().get(key)
        if backbone is not None:
            lines.append(f"Pretrained weights of {backbone.title}: {backbone.license}")
    return "\n".join(lines) + "\n"


# images ------------------------------------------------------------------------------------


def _pack_images(choice: Choice, found: _Found) -> dict[str, object]:
    """The data set's parameters with places in the bundle."""
    spec = all_datasets().get(choice.key)
    params = dict(choice.params)
    if spec is not None and spec.lists_files:
        raise DatasetError(
            "Images that a table lists may lie anywhere: they cannot be bundled.",
            where=str(choice.params.get("path", "")),
            fix="Put them into one folder per class, or make an archive of them.",
        )
    for param in spec.params if spec is not None else ():
        value = params.get(param.key)
        if isinstance(param, PathParam) and isinstance(value, str) and value:
            params[param.key] = _pack(value, found, is_glob=param.is_glob)
        elif isinstance(param, PathsParam) and isinstance(value, list | tuple):
            params[param.key] = tuple(_pack(each, found) for each in value)
    return params


def _pack(text: str, found: _Found, *, is_glob: bool = False) -> str:
    """Path of a file or folder in the bundle; an address stays what it is."""
    if "://" in text:
        found.remarks.append(f"{text} is an address: its images are not in the bundle.")
        return text
    path = Path(place_now(text)).expanduser()
    if not path.exists() and is_glob and set("*?[") & set(text):
        raise DatasetError(
            "Files that a pattern names cannot be bundled.",
            where=text,
            fix="Name the folder that holds them.",
        )
    if not path.exists():
        raise DataNotFoundError(
            "The images of the project are not there.", where=text, fix="Find them first."
        )
    place = f"{IMAGES}/{len(found.places)}/{path.name}"
    found.places[text] = place
    num_links = 0
    for name, each in _files_below(path.resolve()):  # a link that is named itself counts
        if each.is_symlink():
            num_links += 1
        elif not all(map(is_plain, Path(f"{path.name}/{name}").parts)):
            raise DatasetError(
                "An image file has a name that cannot be bundled.",
                where=path_text(str(each)),
                fix="Rename it.",
            )
        else:
            found.files[f"{place}/{name}" if name else place] = each
    if num_links:
        found.remarks.append(f"{plural(num_links, 'link')} in {path.name} left out.")
    return place


def _files_below(path: Path) -> Iterator[tuple[str, Path]]:
    """Name below a folder, and path, of each file and link; "" and the path of a file. Raises
    OSError where a folder cannot be listed.
    """
    if path.is_file():
        yield "", path
        return
    for folder, folders, names in os.walk(path, onerror=_raise):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted((*folders, *names)):
            each = Path(folder, name)
            if not name.startswith(".") and (each.is_symlink() or each.is_file()):
                yield str(each.relative_to(path)), each


def _raise(error: OSError) -> NoReturn:
    raise error


# runs --------------------------------------------------------------------------------------


def _pack_runs(project: Project, path: Path, home: Path, found: _Found) -> list[str]:
    """The folders of a project's runs that are over."""
    own = OpenProject.of(project, str(path))
    names: list[str] = []
    for summary in reversed(list_runs(home)):
        if not own.owns(summary):
            continue
        if not _is_still(summary):
            found.remarks.append(f"Run {summary.label} is left out: it {summary.outcome}.")
            continue
        name = _free_name(summary.path.name, names)
        names.append(name)
        for below, each in _files_below(summary.path):
            if Path(below).parts[0] not in _LEFT_OUT and not each.is_symlink():
                found.files[f"{RUNS}/{name}/{below}"] = each
    return names


def _is_still(summary: RunSummary) -> bool:
    return summary.is_over and not RunFolder(summary.path).is_alive()


def _free_name(name: str, taken: list[str]) -> str:
    number, free = 2, name
    while free in taken:
        number, free = number + 1, f"{name} {number}"
    return free


def _file_name(path: Path) -> str:
    return path.name if path.name.endswith(PROJECT_SUFFIX) else f"{path.name}{PROJECT_SUFFIX}"
