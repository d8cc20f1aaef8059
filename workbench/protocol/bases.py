"""What all or many requests and all answers have, and an error in any of them."""

from __future__ import annotations

from typing import Annotated

import msgspec

PROTOCOL_VERSION = 1

Whole = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
"""A whole number in a file that may come from elsewhere: arrays have room for it."""

Step = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
"""A step or an epoch: columns of curves have 32 bits for it."""


class Request(msgspec.Struct, frozen=True, kw_only=True, tag_field="request"):
    """A request to a service worker; `id` is repeated in every answer to it."""

    id: int


class DataRequest(Request, frozen=True, kw_only=True):
    """A request about the images of a data set.

    Attributes:
        source, params: Key of the data set, and its parameters.
        edits: The user's edits of it, as in a project file.
    """

    source: str
    params: dict[str, object]
    edits: dict[str, object] = {}


class SplitRequest(DataRequest, frozen=True, kw_only=True):
    """A request about a data set as training divides it.

    Attributes:
        recipe: Values of the recipe that decide the split; defaults where there are none.
        project_id: Whose runs remember where the split by content was cut; "" for no project.
    """

    recipe: dict[str, object] = {}
    project_id: str = ""


class Answer(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer"):
    """An answer of a service worker; `id` is the request's, 0 for none."""

    id: int = 0


class ErrorParts(msgspec.Struct, frozen=True, kw_only=True):
    """A WorkbenchError on the wire; `kind` is its class, "" where that is not known."""

    what: str
    where: str = ""
    received: str = ""
    expected: str = ""
    fix: str = ""
    kind: str = ""

    @property
    def words(self) -> str:
        """What happened, where if the sentence does not say it, and what can be done."""
        where = f"Where: {self.where}." if self.where and self.where not in self.what else ""
        return " ".join(filter(None, (self.what, where, self.fix)))
