"""Opens mutated project files: each is a project or a reported error, never anything else.

`python -m tests.proofs.project_fuzz --cases 100000 [--seed N]` prints one summary line and
ends with 1 when any case broke the promise.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import time
from collections.abc import Iterator
from typing import Any

from workbench.assets import template_paths
from workbench.core.projects.project_file import parse_project, project_text
from workbench.errors import ProjectFileError

HOSTILE_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, -(2**63), 10**400, 0.5, -0.0, 1e308, "", "n1", "\0",
    "\u202eevil", "<img src=/x.png>", "a" * 5000, "../../etc/passwd", "conv2d", [], {}, [[]],
    [None], {"": None}, ["n1", "n2"], {"key": {}}, [1, 2, 3], {"id": "n1"}, "\ud800",
)  # fmt: skip
HOSTILE_TEXTS = (
    "", " ", "null", "[]", "{}", "NaN", '{"format":"workbench-project"}', "\ufeff{}", "[" * 100_000,
    '{"format":"workbench-project","version":1,"version":1}', '{"a":' * 50_000, "\0" * 100,
    '{"format":"workbench-project","version":NaN}', '{"format":"workbench-project","version":1e999}',
    '{"format":"workbench-project","version":' + "9" * 5000 + "}",
)  # fmt: skip
_TOKENS = ("NaN", "Infinity", "1e999", "\\ud800", "\\u0000", "{", "}", "[", "]", ",", ":", '"',
           '"version": 2', '"id": "n1",', "null", "-", "9" * 5000, "[" * 3000)  # fmt: skip


def seeds() -> list[str]:
    """The valid texts that mutations start from."""
    return [path.read_text(encoding="utf-8") for path in template_paths()]


def mutated_texts(num_cases: int, seed: int) -> Iterator[str]:
    """Texts that are nearly project files: damaged values, keys, structure and bytes."""
    rng = random.Random(seed)
    sources = seeds()
    yield from HOSTILE_TEXTS[:num_cases]
    for _ in range(num_cases - len(HOSTILE_TEXTS)):
        text = rng.choice(sources)
        if rng.random() < 0.7:
            plain = json.loads(text)
            for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
                mutate_value(plain, rng)
            text = json.dumps(plain)
        if rng.random() < 0.4:
            text = mutate_text(text, rng)
        yield text


def places_in(value: Any) -> list[tuple[Any, Any]]:
    """(container, key) of everything inside a JSON value."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        part = waiting.pop()
        pairs = part.items() if isinstance(part, dict) else enumerate(part)
        for key, child in pairs:
            found.append((part, key))
            if isinstance(child, dict | list):
                waiting.append(child)
    return found


def mutate_value(plain: Any, rng: random.Random) -> None:
    places = places_in(plain)
    if not places:
        return
    container, key = rng.choice(places)
    choice = rng.randrange(6)
    if choice == 0:
        del container[key]
    elif choice == 1:
        other, other_key = rng.choice(places)
        if other_key in other if isinstance(other, dict) else other_key < len(other):
            container[key] = json.loads(json.dumps(other[other_key]))
    elif choice == 2 and isinstance(container, list):
        container.insert(key, json.loads(json.dumps(container[key])))
    elif choice == 3 and isinstance(container, dict):
        container[rng.choice(("unknown", "id", "", "name", "params", "edges"))] = container.pop(key)
    elif choice == 4:
        container[key] = [container[key]] * rng.choice((1, 2, 50))
    else:
        container[key] = copy.deepcopy(rng.choice(HOSTILE_VALUES))


def mutate_text(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    choice = rng.randrange(4)
    if choice == 0:
        return text[:at]
    if choice == 1:
        return text[:at] + rng.choice(_TOKENS) + text[at:]
    if choice == 2:
        end = min(len(text), at + rng.choice((1, 5, 200)))
        return text[:at] + text[end:]
    return text[:at] + chr(rng.randrange(0x250)) + text[at + 1 :]


def is_promise_kept(text: str) -> bool | None:
    """True when a case was refused in words, None when it opened, False when it broke."""
    try:
        project = parse_project(text, "case.workbench")
    except ProjectFileError as error:
        return len(str(error)) < 5000
    again = project_text(project)
    return None if project_text(parse_project(again, "again")) == again else False


def main() -> int:
    """Runs the cases and prints the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    opened = refused = broken = 0
    slowest, started = 0.0, time.perf_counter()
    for text in mutated_texts(options.cases, options.seed):
        begin = time.perf_counter()
        try:
            outcome = is_promise_kept(text)
        except Exception as error:  # noqa: BLE001 - what this proof looks for
            outcome = False
            print(f"{type(error).__name__}: {error} in {text[:200]!r}", file=sys.stderr)
        slowest = max(slowest, time.perf_counter() - begin)
        opened += outcome is None
        refused += outcome is True
        broken += outcome is False
    seconds = time.perf_counter() - started
    print(
        f"project_fuzz: {options.cases:,} cases, {opened:,} opened, {refused:,} refused in words, "
        f"{broken:,} broken, slowest {slowest * 1000:.0f} ms, {seconds:.0f} s"
    )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
