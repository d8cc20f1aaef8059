"""What was inferred about the meaning of foreign data: a value with its evidence and its doubt.

What the user has not set (which column is the label, which folder is a part, which number is
white), a source infers, and lists here. The Data view, `data check` and the log show every
inference; its parameter of the data set changes it; a doubtful one is a finding of the data check.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Option:
    """Another meaning that the data could have.

    Attributes:
        value: What the parameter of the data set is set to for it.
        title: What it means, in words: "breed", "classes as they are".
    """

    value: Any
    title: str


@dataclass(frozen=True)
class Inference:
    """One meaning that was taken.

    Attributes:
        key: Kind of inference, and part of what identifies it, e.g. "label_column".
        what: What was inferred, as the start of a sentence: "The label column".
        value: What was taken, in words.
        evidence: Why, as a clause: "named in the header", "72 of 72 files are there".
        doubt: Why it may be wrong, as a sentence; "" where the evidence is plain. A doubtful
            inference is a finding.
        param: The parameter of the data set that sets it; "" where nothing can.
        options: What else it could be; each is offered as a value of `param`.
        is_told: The user has set it: nothing was inferred, and it is no finding.
    """

    key: str
    what: str
    value: str
    evidence: str = ""
    doubt: str = ""
    param: str = ""
    options: tuple[Option, ...] = ()
    is_told: bool = False

    @property
    def sentence(self) -> str:
        """For logs and lists: "The label column: breed (named in the header)." and the doubt."""
        why = "set in the data source" if self.is_told else self.evidence
        words = f"{self.what}: {self.value} ({why})." if why else f"{self.what}: {self.value}."
        return f"{words} {self.doubt}" if self.is_doubtful else words

    @property
    def is_doubtful(self) -> bool:
        """Whether a person should look at it."""
        return bool(self.doubt) and not self.is_told
