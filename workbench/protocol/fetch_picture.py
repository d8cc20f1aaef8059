"""Downloading a picture from the web: the request."""

from __future__ import annotations

from workbench.protocol.bases import Request
from workbench.protocol.messages import Done


class FetchPicture(Request, frozen=True, kw_only=True, tag="fetch_picture"):
    """Downloads a picture and checks that it can be decoded. Answer: Done with the `path`.

    Other requests do not wait for it.

    Attributes:
        address: Begins with http:// or https://.
        path: The new file to write.
    """

    final_answer = Done
    is_beside = True

    address: str
    path: str
