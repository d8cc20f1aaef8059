"""Data sets in commands: the data check, versions of edits, and images that were moved."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.cli._options import add_json_option, add_project
from workbench.cli._output import print_json, print_line, print_text
from workbench.cli._service import answers_of, open_service
from workbench.core.data_check.findings import (
    Finding,
    FoundImage,
    LabelEvidence,
    state_of,
    tally,
)
from workbench.core.format import count, image_size_text, plural
from workbench.core.projects.data_edits import (
    MAX_NAME,
    MAX_VERSIONS,
    DataVersion,
    difference_words,
    edits_of_version,
    edits_to_plain,
    is_name,
    version_named,
    with_version,
)
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import project_bytes, project_text, read_stamped
from workbench.core.specs import Inference
from workbench.core.storage.save import OnlyOver, save_bytes
from workbench.data_checks import all_data_checks
from workbench.errors import DatasetError, UsageError
from workbench.moving.found_data import FoundData, look_at
from workbench.protocol.data_check import CheckData, DataCheckReport, DataFindings
from workbench.protocol.describe_data import DataDescription, DescribeData
from workbench.runs.home import data_home
from workbench.runs.moved_data import keep_place_of

# data moved ----------------------------------------------------------------------------------
# `workbench data moved`: where images are that runs were trained on, once they were moved.


def add_moved(commands: Any) -> None:
    """Adds `moved OLD NEW [--force]`, among the commands of `data`."""
    parser = commands.add_parser(
        "moved", help="say where the images of runs are now, after a folder was moved or renamed"
    )
    parser.add_argument("old", metavar="OLD", help="the file or folder as the runs name it")
    parser.add_argument("new", metavar="NEW", help="where it is now")
    parser.add_argument(
        "--force",
        action="store_true",
        help="also where the images cannot be compared with those of the runs, or differ",
    )
    add_json_option(parser)
    parser.set_defaults(run_data=_moved)


def _moved(arguments: argparse.Namespace) -> int:
    found = look_at(arguments.old, arguments.new)
    if Path(found.old).exists():
        raise DatasetError(
            "There is still something at this path: it is used from there.",
            where=found.old,
            fix="Move or rename it first.",
        )
    if not found.is_same and not arguments.force:
        raise DatasetError(
            found.words(),
            where=found.new,
            expected=f"the images that were in {found.old}",
            fix="Name another folder, or use it all the same with --force.",
        )
    keep_place_of(found.old, found.new)
    if arguments.json:
        print_json(_as_json(found))
    else:
        print_line(found.words())
        runs = plural(found.num_runs, "run")
        print_line(f"{found.new} is used in place of {found.old}, by {runs} so far.")
    return 0


def _as_json(found: FoundData) -> dict[str, object]:
    return {
        "old": found.old,
        "new": found.new,
        "runs": found.num_runs,
        "known": found.num_known,
        "compared": found.num_compared,
        "same": found.num_same,
    }


# data versions -------------------------------------------------------------------------------
# `workbench data versions`: named versions of a project's data edits.


def add_versions(commands: Any) -> None:
    """Adds `versions PROJECT [save|use|delete NAME]`, among the commands of `data`."""
    parser = commands.add_parser("versions", help="save the data edits by a name, and go back")
    add_project(parser)
    parser.add_argument(
        "what",
        nargs="?",
        metavar="save|use|delete",
        choices=("save", "use", "delete"),
        help="keep the present edits, go back to a version, or forget one; without it, versions "
        "are listed",
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="name of the version")
    add_json_option(parser)
    parser.set_defaults(run_data=_versions)


def _versions(arguments: argparse.Namespace) -> int:
    path = Path(arguments.project)
    before, stamp = read_stamped(path)
    after = _after(before, arguments.what, arguments.name)
    if after != before:
        guard = OnlyOver(path, [stamp], data_home() / "open")
        save_bytes(path, project_bytes(after, path), guard=guard)
    if arguments.json:
        print_json({"project": str(path), "versions": [_plain(e, after) for e in _newest(after)]})
        return 0
    for version in _newest(after):
        differs = difference_words(version.edits, after.edits)
        now = f"differs from now by {differs}" if differs else "as now"
        print_text(f"{version.name:30} {version.date}  {now}")
    if not after.data_versions:
        print_line("No version has been saved.")
    return 0


def _after(project: Project, what: str | None, name: str | None) -> Project:
    """The project once it was done."""
    if what is None:
        return project
    if what == "save":
        return _saved(project, name)
    version = version_named(project.data_versions, name or "")
    if version is None:
        raise UsageError(
            "There is no such version.",
            received=name or "no name",
            expected="one of " + (", ".join(v.name for v in project.data_versions) or "none"),
        )
    if what == "use":
        return replace(project, edits=edits_of_version(version, project.edits))
    others = tuple(each for each in project.data_versions if each != version)
    return replace(project, data_versions=others)


def _saved(project: Project, name: str | None) -> Project:
    if not is_name(name) or name is None:
        raise UsageError(
            "A version needs a name.",
            received=name or "no name",
            expected=f"1 to {MAX_NAME} printable characters",
        )
    versions = with_version(project.data_versions, name.strip(), project.edits)
    if len(versions) > MAX_VERSIONS:
        raise UsageError(
            "The project has as many versions as it can have.",
            received=f"{len(versions):,} versions",
            expected=f"at most {MAX_VERSIONS}",
            fix="Delete one first.",
        )
    return replace(project, data_versions=versions)


def _newest(project: Project) -> list[DataVersion]:
    return list(reversed(project.data_versions))


def _plain(version: DataVersion, project: Project) -> dict[str, Any]:
    differs = difference_words(version.edits, project.edits)
    return {
        "name": version.name,
        "date": version.date,
        "differs": differs,
        "is_current": not differs,
    }


# findings ------------------------------------------------------------------------------------
# The data check of a project, as commands ask for it and print it.

_MOST_PRINTED = 10
"""Findings of a rule that are printed: all are in the JSON."""
_MOST_IMAGES = 6


@dataclass(frozen=True)
class Checked:
    """What a check has found.

    Attributes:
        project: The project that was checked.
        findings: In the order of the rules, the worst first.
        report: Counts, and how long it took.
    """

    project: Project
    findings: tuple[Finding, ...]
    report: DataCheckReport

    @property
    def open(self) -> list[Finding]:
        """Findings that were neither fixed nor kept."""
        return [each for each in self.findings if state_of(each, self.project) == "open"]

    @property
    def is_ok(self) -> bool:
        """Whether nothing is left that should be looked at."""
        return all(finding.severity == "hint" for finding in self.open)


def checked(project: Project, *, labels: bool, is_quiet: bool) -> tuple[DataDescription, Checked]:
    """What a project's data set holds, and what is found in it."""
    describe = DescribeData(
        id=1,
        source=project.dataset.key,
        params=dict(project.dataset.params),
        edits=edits_to_plain(project.edits),
        recipe=project.recipe.split_values(),
        project_id=project.id,
    )
    request = CheckData(id=2, project=project_text(project), labels=labels)
    with open_service() as service:
        described = list(answers_of(service, describe, is_quiet=is_quiet))
        answers = list(answers_of(service, request, is_quiet=is_quiet))
    findings = [
        finding for each in answers if isinstance(each, DataFindings) for finding in each.findings
    ]
    (description,) = (each for each in described if isinstance(each, DataDescription))
    (report,) = (each for each in answers if isinstance(each, DataCheckReport))
    return description, Checked(project, tuple(findings), report)


def findings_as_json(found: Checked) -> dict[str, Any]:
    """The findings for programs."""
    return {
        "findings": [finding_as_json(each, found.project) for each in found.findings],
        "counts": {each.rule: each.total for each in found.report.counts},
        "checked_images": found.report.num_images,
        "checked_labels": found.report.has_checked_labels,
        "check_notes": list(found.report.notes),
        "seconds": round(found.report.seconds, 3),
    }


def inference_as_json(inference: Inference) -> dict[str, Any]:
    """What was inferred about the meaning of the data, for programs; `setting` is the key of
    `workbench set PROJECT data.KEY=VALUE`, null where nothing can be set.
    """
    return {
        "kind": inference.key,
        "what": inference.what,
        "value": inference.value,
        "evidence": inference.evidence,
        "doubt": inference.doubt or None,
        "told": inference.is_told,
        "setting": f"data.{inference.param}" if inference.param else None,
        "options": [{"value": each.value, "title": each.title} for each in inference.options],
    }


def finding_as_json(finding: Finding, project: Project) -> dict[str, Any]:
    """One finding for programs."""
    return {
        "kind": finding.rule,
        "key": finding.key,
        "severity": finding.severity,
        "state": state_of(finding, project),
        "title": finding.title,
        "message": finding.message,
        "files": [image_name(each) for each in finding.images],
        "images": [
            {
                "content": each.content,
                "class": each.label,
                "part": each.part,
                "width": each.width,
                "height": each.height,
            }
            for each in finding.images
        ],
        "image_count": finding.num_images,
        "score": round(finding.score, 4),
        "group": finding.group,
        **({"label": _evidence_as_json(finding.evidence)} if finding.evidence else {}),
        "actions": [{"key": each.key, "title": each.title} for each in finding.actions],
    }


def _evidence_as_json(evidence: LabelEvidence) -> dict[str, Any]:
    """Why a label is doubted, for programs."""
    return {
        "given_probability": round(evidence.given, 6),
        "suggested": evidence.suggested_label,
        "suggested_probability": round(evidence.suggested, 6),
        "nearest": [
            {"file": image_name(each), "class": each.label, "part": each.part}
            for each in evidence.nearest
        ],
    }


def image_name(image: FoundImage) -> str:
    """The file of an image, or where it is in its source."""
    return image.file or f"{image.origin}[{image.index}]"


def print_findings(found: Checked) -> None:
    """Prints the findings for people, with the numbers that `data fix` takes."""
    numbered = list(enumerate(found.findings, start=1))
    for rule in all_data_checks().values():
        of_rule = [(number, each) for number, each in numbered if each.rule == rule.key]
        total = next((c.total for c in found.report.counts if c.rule == rule.key), 0)
        if not of_rule:
            continue
        print_text(f"{rule.title}: {count(total)}")
        for number, finding in of_rule[:_MOST_PRINTED]:
            _print_finding(number, finding, found.project)
        if total > _MOST_PRINTED:
            print_text(f"    {count(total - _MOST_PRINTED)} more")
    for note in found.report.notes:
        print_line(note)
    words = tally(found.findings, found.project).words if found.findings else "No findings"
    report = found.report
    speed = report.num_images / max(report.seconds, 1e-6)
    checked_words = f"{plural(report.num_images, 'image')} checked, {speed:,.0f} images/s"
    print_line(f"{words}. {checked_words}.")


def _print_finding(number: int, finding: Finding, project: Project) -> None:
    state = state_of(finding, project)
    mark = "" if state == "open" else f" ({state})"
    print_text(f"  {number:>4}. {finding.title}{mark}")
    print_text(f"        {finding.message}")
    _print_images(finding.images, finding.num_images)
    if finding.evidence:
        near = ", ".join(f"{image_name(e)} ({e.label})" for e in finding.evidence.nearest)
        print_text(f"        most similar: {near}")
    actions = "; ".join(f"{each.key}: {each.title}" for each in finding.actions)
    print_text(f"        {actions}")


def _print_images(images: Sequence[FoundImage], total: int) -> None:
    for image in images[:_MOST_IMAGES]:
        size = f", {image_size_text((image.height, image.width))}" if image.width else ""
        print_text(f"        {image_name(image)} ({image.label}, {image.part}{size})")
    if total > _MOST_IMAGES:
        print_text(f"        {count(total - _MOST_IMAGES)} more images")
