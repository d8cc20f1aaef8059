"""What TensorFlow and libtpu print when a TPU fails, in words, with a remedy. One table for the
trainer's last event and for crashed trainers; what ssh prints is in `remote.ssh.command`.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import msgspec


class Fault(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One way to fail.

    Attributes:
        key: Its name for programs.
        pattern: Found somewhere in the text; named groups can be used in `words` as {name}.
        words: What happened, one sentence.
        fix: What to do.
        suggests_smaller_batch: A smaller batch may help.
        is_connecting: The text means this only while a TPU is being started.
    """

    key: str
    pattern: str
    words: str
    fix: str
    suggests_smaller_batch: bool = False
    is_connecting: bool = False


def _read_faults() -> tuple[Fault, ...]:
    # Beside the code, not in resources/: other computers have it too.
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    for fault in table["fault"]:
        fault["fix"] = fault["fix"].format(**table["remedies"])
    return msgspec.convert(table["fault"], tuple[Fault, ...])


TPU_FAULTS = _read_faults()
"""In the order in which they are looked for."""


def fault_of(text: str, *, is_connecting: bool = False) -> Fault | None:
    """The first fault of the table that a text matches, with the text's own figures in its
    words; None where it matches none.

    Args:
        text: An exception with its type's name, or the last lines of a log.
        is_connecting: It comes from starting a TPU.
    """
    text = text[-100_000:]
    for fault in TPU_FAULTS:
        if fault.is_connecting and not is_connecting:
            continue
        match = re.search(fault.pattern, text)
        if match is not None:
            return msgspec.structs.replace(fault, words=fault.words.format(**_values(match)))
    return None


def _values(match: re.Match[str]) -> dict[str, str]:
    values = {name: value or "" for name, value in match.groupdict().items()}
    if values.get("node"):
        values["node"] = f" (at {values['node']})"
    return values
