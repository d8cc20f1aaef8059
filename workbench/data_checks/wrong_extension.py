"""Files whose content is of another format than their name says; they are read all the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePath

from workbench.core.data_check.findings import DataCheckSpec, Finding, Survey, new_finding
from workbench.core.format import plural

_FORMATS: dict[str, frozenset[str]] = {
    "PNG": frozenset({".png", ".apng"}),
    "JPEG": frozenset({".jpg", ".jpeg", ".jpe", ".jfif"}),
    "GIF": frozenset({".gif"}),
    "BMP": frozenset({".bmp", ".dib"}),
    "WEBP": frozenset({".webp"}),
    "TIFF": frozenset({".tif", ".tiff"}),
    "AVIF": frozenset({".avif"}),
    "ICO": frozenset({".ico"}),
    "PPM": frozenset({".ppm", ".pgm", ".pbm", ".pnm"}),
    "QOI": frozenset({".qoi"}),
    "JPEG2000": frozenset({".jp2", ".j2k"}),
    "PSD": frozenset({".psd"}),
    "TGA": frozenset({".tga"}),
}


def _find(survey: Survey) -> Iterator[Finding]:
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row in survey.readable.tolist():
        extension, kind = PurePath(survey.files[row]).suffix.lower(), survey.formats[row]
        if extension and extension not in _FORMATS.get(kind, {extension}):
            found[extension, kind].append(row)
    for (extension, kind), rows in sorted(found.items()):
        yield new_finding(
            SPEC.key,
            "hint",
            f"{kind} files named {extension}",
            f"{plural(len(rows), 'file')} named {extension}: the content is {kind}. They are read "
            f"correctly here; other programs may refuse them.",
            images=survey.found(rows),
            about=f"{extension} {kind}",
        )


SPEC = DataCheckSpec(key="wrong_extension", title="Wrong extensions", order=80, find=_find)
