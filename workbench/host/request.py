"""One request as a verb gets it."""

from typing import Any, Callable, Dict, Tuple

from workbench.host.faults import Fault
from workbench.host.home import Home

Answer = Tuple[Dict[str, Any], bytes]
Send = Callable[[Dict[str, Any], bytes], None]


class HostRequest:
    """Fields and bytes of a request, with their types checked as they are taken.

    Args:
        home: Our folder on this computer.
        fields: Fields of the frame.
        data: Bytes of the frame.
        send: Sends a frame before the answer.
    """

    def __init__(self, home: Home, fields: Dict[str, Any], data: bytes, send: Send) -> None:
        self.home = home
        self.data = data
        self.send = send
        self._fields = fields

    def text(self, name: str, default: str = "") -> str:
        """A text of the request; `default` where it is not said."""
        value = self._fields.get(name, default)
        if not isinstance(value, str):
            raise _wrong(name, value)
        return value

    def number(self, name: str, default: int = 0) -> int:
        """A whole number from 0 on."""
        value = self._fields.get(name, default)
        if type(value) is not int or value < 0:
            raise _wrong(name, value)
        return value

    def flag(self, name: str) -> bool:
        """Yes or no; no where it is not said."""
        value = self._fields.get(name, False)
        if not isinstance(value, bool):
            raise _wrong(name, value)
        return value

    def progress(self, words: str, fraction: float = -1.0) -> None:
        """Reports how far it is; a negative fraction where that is not known."""
        self.send({"progress": words[:500], "fraction": round(fraction, 4)}, b"")


def _wrong(name: str, value: Any) -> Fault:
    return Fault("request", "The request is invalid.", where=name, received=repr(value)[:200])
