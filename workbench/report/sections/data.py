"""What it was trained on: images of each part and class, edits, and how to recognize them."""

from __future__ import annotations

from workbench.core.format import count, plural
from workbench.core.projects.data_edits import DataEdits, version_of
from workbench.datasets import all_datasets
from workbench.protocol.events import DataReady
from workbench.report.blocks import Block, Section, Table, Text, plain_name
from workbench.report.blocks import Facts as Names
from workbench.report.facts import Facts, SectionSpec

_BAD_FILES = 20


def section(facts: Facts) -> Section:
    """Counts, edits, hash."""
    data = facts.history.data
    blocks: list[Block] = [Names(_rows(facts, data))]
    if data is None:
        missing = "How many images there are is not known: they were not loaded for this run yet."
        return Section("Data", [*blocks, Text(missing, "missing")])
    if data.per_class:
        blocks.append(_classes(data))
    if data.bad_files:
        rows = [[plain_name(path), plain_name(why)] for path, why in data.bad_files[:_BAD_FILES]]
        title = f"Unreadable images: {count(len(data.bad_files))}"
        columns = ["File", "Reason"]
        blocks.append(Table(title=title, columns=columns, rows=rows, num_text=2))
    return Section("Data", blocks)


def _rows(facts: Facts, data: DataReady | None) -> list[tuple[str, str]]:
    rows = [("Data set", plain_name(facts.summary.dataset or "unknown"))]
    spec = all_datasets().get(facts.project.dataset.key) if facts.project is not None else None
    if spec is not None and spec.license:
        rows.append(("License of the images", spec.license))
    if data is not None:
        rows += [
            ("Training images", count(data.num_train)),
            ("Validation images", _validation(data)),
            ("Test images", count(data.num_test)),
            ("Classes", count(len(data.class_names))),
        ]
        if data.bad_files:
            rows.append(("Left out", f"{plural(len(data.bad_files), 'unreadable image')}"))
    if facts.project is not None:
        rows.append(("Edits", edit_words(facts.project.edits)))
        if version := version_of(facts.project.data_versions, facts.project.edits):
            rows.append(("Version of the data", plain_name(version)))
    if facts.origin is not None:
        digest = facts.origin.data.digest
        rows.append(("Content hash (sample)", plain_name(digest)))
    return rows


def _validation(data: DataReady) -> str:
    number = count(data.num_validation)
    return f"{number} (the test images)" if data.validates_on_test else number


def edit_words(edits: DataEdits) -> str:
    """The user's changes in words: "3 images relabeled, 2 left out"; "none"."""
    left_out = sum(1 for name in edits.classes.values() if not name)
    parts = (
        (len(edits.left_out), "image left out", "images left out"),
        (len(edits.once), "image used once of several copies", "images used once of their copies"),
        (len(edits.labels.keys() - edits.once), "image relabeled", "images relabeled"),
        (len(edits.parts), "image moved to another part", "images moved to other parts"),
        (left_out, "class left out", "classes left out"),
        (len(edits.classes) - left_out, "class renamed or merged", "classes renamed or merged"),
    )
    return ", ".join(plural(number, one, many) for number, one, many in parts if number) or "none"


def _classes(data: DataReady) -> Table:
    rows = [
        [plain_name(name), *map(count, counts)]
        for name, counts in zip(data.class_names, data.per_class, strict=False)
    ]
    columns = ["Class", "Training", "Validation", "Test"]
    rows = [row[: len(columns)] + [""] * (len(columns) - len(row)) for row in rows]
    return Table(title="Images of each class", columns=columns, rows=rows)


SPEC = SectionSpec(key="data", order=60, make=section)
