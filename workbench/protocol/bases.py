"""What all or many requests and all answers have, and an error in any of them.

A kind of message is a subclass: its base class says whether it is a request, a partial or a final
answer. There is no other list of them.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Annotated, ClassVar, TypeVar

import msgspec

PROTOCOL_VERSION = 1

Whole = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
"""A whole number in a file that may come from elsewhere: arrays have room for it."""

Step = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
"""A step or an epoch: columns of curves have 32 bits for it."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer"):
    """An answer of a service worker; `id` is the request's, 0 for none."""

    id: int = 0


class FinalAnswer(Answer, frozen=True, kw_only=True):
    """An answer after which nothing more comes for its request."""


class Request(msgspec.Struct, frozen=True, kw_only=True, tag_field="request"):
    """A request to a service worker; `id` is repeated in every answer to it.

    Attributes:
        final_answer: What it ends with, unless it fails.
        partial_answers: What may come before, besides Progress.
        handler: Module below `workbench.worker.requests` with the handler, a function of the
            tag's name; "" for the module of that name.
        is_beside: It waits for a network, not for the processor: others are done meanwhile.
    """

    final_answer: ClassVar[type[FinalAnswer]]
    partial_answers: ClassVar[tuple[type[Answer], ...]] = ()
    handler: ClassVar[str] = ""
    is_beside: ClassVar[bool] = False

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


M = TypeVar("M", bound=msgspec.Struct)


def kinds(base: type[M]) -> list[type[M]]:
    """The kinds of message of a base class that are imported: its subclasses without subclasses."""
    return [kind for child in base.__subclasses__() for kind in kinds(child)] or [base]


def decoder_of(base: type[M]) -> msgspec.json.Decoder[M]:
    """Decodes each kind of message of a base class, by its tag, and nothing else."""
    return msgspec.json.Decoder(reduce(or_, kinds(base)))
