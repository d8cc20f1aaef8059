"""Proof: damaged pictures end in pixels or in a PictureError, never in anything else.

    python -m tests.proofs.picture_fuzz --cases 20000

Starts from small pictures in every format that Pillow writes here, and from the odd pictures
where they are beside the checkout. Runs in a child process, so that a crash of a decoder is
seen and counted as what it is.
"""

from __future__ import annotations

import argparse
import io
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from PIL import Image

from workbench.errors import PictureError
from workbench.pictures.thumbnails import decode_picture

ODD = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "odd_images"
KINDS = (
    "PNG",
    "JPEG",
    "GIF",
    "BMP",
    "WEBP",
    "TIFF",
    "AVIF",
    "ICO",
    "PPM",
    "QOI",
    "JPEG2000",
    "TGA",
)
MAX_SEED_BYTES = 60_000


def seeds() -> list[bytes]:
    """Whole pictures to damage."""
    x, y = np.meshgrid(np.arange(48), np.arange(40))
    pixels = np.stack([x * 5, y * 6, (x * y) % 256], axis=-1).astype(np.uint8)
    found = []
    for kind in KINDS:
        for mode in ("RGB", "L", "RGBA", "P", "CMYK", "I;16"):
            file = io.BytesIO()
            try:
                Image.fromarray(pixels).convert("L" if mode == "I;16" else mode).convert(mode).save(
                    file, kind
                )
            except (OSError, ValueError, KeyError):
                continue  # this format has no such pixels
            found.append(file.getvalue())
    odd = sorted(ODD.iterdir()) if ODD.is_dir() else []
    found += [path.read_bytes() for path in odd if 0 < path.stat().st_size <= MAX_SEED_BYTES]
    return found


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Bytes changed, removed, doubled or cut; the beginning is hit most."""
    content = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        reach = len(content) if rng.random() < 0.5 else min(len(content), 200)
        place = rng.randrange(max(1, reach))
        match rng.randrange(5):
            case 0 | 1:
                content[place : place + 1] = bytes([rng.randrange(256)])
            case 2:
                content[place : place + 4] = rng.choice(
                    [b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff"]
                )
            case 3:
                del content[place : place + rng.randrange(1, 20)]
            case _:
                content[place:place] = content[place : place + rng.randrange(1, 20)]
    return bytes(content[: rng.randrange(len(content) + 1)] if rng.random() < 0.1 else content)


def run(cases: int, seed: int) -> tuple[int, int]:
    """Decodes `cases` mutated pictures; returns how many gave pixels and how many errors.

    Anything but pixels or a PictureError goes through and ends the run.
    """
    rng = random.Random(seed)
    whole = seeds()
    num_read = num_refused = 0
    for _ in range(cases):
        data = mutated(rng.choice(whole), rng)
        try:
            pixels = decode_picture(data, where="fuzz")
        except PictureError as error:
            if error.where != "fuzz" or not error.what or "\n" in str(error):
                raise AssertionError(f"not one clear line: {error!r}") from error
            num_refused += 1
            continue
        if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3:
            raise AssertionError(f"not a picture: {pixels.dtype} {pixels.shape}")
        num_read += 1
    return num_read, num_refused


def main() -> int:
    parser = argparse.ArgumentParser(description="Decode mutated pictures.")
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(*run(options.cases, options.seed))
        return 0
    start = time.monotonic()
    command = [sys.executable, "-m", "tests.proofs.picture_fuzz", "--child"]
    command += ["--cases", str(options.cases), "--seed", str(options.seed)]
    child = subprocess.run(command, capture_output=True, text=True, check=False)
    if child.returncode:
        print(child.stderr[-3000:], file=sys.stderr)
        print(f"picture_fuzz: FAILED, the child ended with {child.returncode}")
        return 1
    num_read, num_refused = map(int, child.stdout.split())
    print(
        f"picture_fuzz: {options.cases:,} mutated pictures (seed {options.seed}): {num_read:,} read, "
        f"{num_refused:,} refused in words, 0 crashes, {time.monotonic() - start:.0f} s"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
