"""Pictures of every kind: the product against NumPy, exported programs against the product.

`bash packaging/prove.sh pixels [--photos N]`

Some 1,500 pictures of 90 kinds (formats, modes, depths, orders of bytes, transparency, EXIF, ICC,
odd sizes; `tests/pictures/kinds.py`), N flower photos and the odd pictures where they are beside the
checkout, and photos of up to 200 megapixels. The product must be within one level of what was
written, as NumPy scales it (of formats with losses: of what Pillow makes of it), or refuse. The
reader of classify.py and that of the Python script, which every export to Python carries, and
classify.mjs must be within one level of the product, or refuse. Ends with 1 where anything is wrong.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from tests.pictures.kinds import Case, cases
from tests.pictures.readers import node_pixels, python_reader
from workbench.errors import PictureError
from workbench.pictures.fit import fit_picture, side_to_decode
from workbench.pictures.thumbnails import decode_picture, decode_reduced

SHAPE = (96, 128, 3)
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
NODE = ("PNG", "JPEG", "photo", "odd")
LARGE = ((12_000, 9_000, False), (12_000, 9_000, True), (16_320, 12_240, False))


def main() -> int:
    """Prints a line for each kind; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--photos", type=int, default=200)
    options = parser.parse_args()
    table: dict[str, Counter[str]] = defaultdict(Counter)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        every = [*cases(), *_files(options.photos)]
        paths = _written(every, Path(place) / "files")
        for case, path in zip(every, paths, strict=True):
            table[case.kind][_judged_product(case, path)] += 1
        _judge_python(every, paths, Path(place), table)
        if shutil.which("node"):
            _judge_node(every, paths, Path(place), table)
        for width, height, is_progressive in LARGE:
            _judge_large(width, height, Path(place), table, is_progressive=is_progressive)
    return _printed(table, time.monotonic() - start)


def _files(photos: int) -> Iterator[Case]:
    """Files of the shared folder: nothing is known of their pixels but what Pillow makes of them."""
    if not SHARED.is_dir():
        print("the shared data folder is not beside this checkout: no photos, no odd pictures")
        return
    none = np.zeros((0, 0, 3), np.uint8)
    every = sorted((SHARED / "flowers").rglob("*.jpg"))
    for path in every[:: max(1, len(every) // max(1, photos))][:photos]:
        yield Case("photo of flowers", path.read_bytes(), np.asarray(Image.open(path)), ".jpg")
    for path in sorted((SHARED / "odd_images").iterdir()):
        if path.suffix not in {".csv", ".md"}:
            yield Case("odd picture", path.read_bytes(), none, path.suffix or ".none")


def _written(every: list[Case], folder: Path) -> list[Path]:
    folder.mkdir()
    paths = [folder / f"{number}{case.suffix}" for number, case in enumerate(every)]
    for case, path in zip(every, paths, strict=True):
        path.write_bytes(case.data)
    return paths


def _judged_product(case: Case, path: Path) -> str:
    try:
        pixels = decode_picture(path, value_range=case.value_range)
    except PictureError:
        return "refused"
    if not case.expected.size:
        return "read"
    return "right" if _gap(pixels, case.expected) <= 1 else "WRONG"


def _gap(one: np.ndarray, other: np.ndarray) -> int:
    if one.shape != other.shape:
        return 256
    return int(np.abs(one.astype(int) - other).max())


def _product(case: Case, path: Path) -> np.ndarray | None:
    try:
        decoded = decode_reduced(path, side_to_decode(SHAPE), value_range=case.value_range)
    except PictureError:
        return None
    return fit_picture(decoded.pixels, SHAPE)


def _judge(
    ours: np.ndarray | None, theirs: np.ndarray | None, name: str, found: Counter[str]
) -> None:
    if theirs is None:
        found[f"{name} refuses"] += 1
    elif ours is None:
        found[f"{name} ALONE"] += 1
    else:
        gap = _gap(ours, theirs)
        found[f"{name} {'equal' if not gap else 'by 1' if gap == 1 else 'OTHER'}"] += 1


def _judge_python(
    every: list[Case], paths: list[Path], place: Path, table: dict[str, Counter[str]]
) -> None:
    readers = {}
    for case, path in zip(every, paths, strict=True):
        told = case.value_range
        if told not in readers:
            folder = place / f"python{len(readers)}"
            readers[told] = python_reader(folder, shape=SHAPE, value_range=told)
        try:
            theirs = readers[told](str(path))
        except ValueError:
            theirs = None
        _judge(_product(case, path), theirs, "py", table[case.kind])


def _judge_node(
    every: list[Case], paths: list[Path], place: Path, table: dict[str, Counter[str]]
) -> None:
    chosen = [pair for pair in zip(every, paths, strict=True) if pair[0].kind.startswith(NODE)]
    files = [(str(path), case.value_range) for case, path in chosen]
    found = node_pixels(place / "node", files, shape=SHAPE)
    for (case, path), theirs in zip(chosen, found, strict=True):
        pixels = None if isinstance(theirs, str) else theirs
        _judge(_product(case, path), pixels, "js", table[case.kind])


def _judge_large(
    width: int, height: int, place: Path, table: dict[str, Counter[str]], *, is_progressive: bool
) -> None:
    """A photo that is only read at reduced scale, with the memory that this takes."""
    x, y = np.meshgrid(np.linspace(0, 255, width // 8), np.linspace(0, 255, height // 8))
    small = np.stack([x, y, (x + y) / 2], axis=-1).astype(np.uint8)
    path = place / "large.jpg"
    image = Image.fromarray(small).resize((width, height), Image.Resampling.NEAREST)
    image.save(path, quality=90, progressive=is_progressive)
    del image
    decoded = decode_reduced(path, side_to_decode(SHAPE))
    expected = fit_picture(small, SHAPE)
    gap = np.abs(fit_picture(decoded.pixels, SHAPE).astype(int) - expected)
    words = f"JPEG, {width * height // 10**6} megapixels"
    words += ", progressive" if is_progressive else ""
    is_right = decoded.full_size == (height, width) and gap.mean() < 1.5
    table[words]["right" if is_right else "WRONG"] += 1


def _printed(table: dict[str, Counter[str]], seconds: float) -> int:
    total: Counter[str] = Counter()
    for kind, found in table.items():
        print(f"{kind:34} " + ", ".join(f"{count} {words}" for words, count in found.items()))
        total += found
    wrong = sum(count for words, count in total.items() if words.split()[-1].isupper())
    own = sum(total[words] for words in ("right", "read", "refused", "WRONG"))
    print(
        f"pixels: {own:,} pictures of {len(table)} kinds: "
        + ", ".join(f"{count:,} {words}" for words, count in sorted(total.items()))
        + f"; {wrong} wrong; {seconds:.0f} s"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
