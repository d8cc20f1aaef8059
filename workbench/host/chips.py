"""TPUs and graphics cards of this computer, seen from the outside: device nodes, who holds
them, and what Google's own computers report about themselves.
"""

import glob
import os
import socket
from typing import Any, Dict, List, Tuple

_METADATA = ("169.254.169.254", 80)
_METADATA_S = 1.0
_KEYS = {
    "accelerator": "instance/attributes/accelerator-type",
    "is_preempted": "instance/preempted",
    "event": "instance/maintenance-event",
}


def chips() -> List[Dict[str, Any]]:
    """Each TPU device node: path, whether this account may open it, who holds it."""
    paths = sorted(glob.glob("/dev/accel[0-9]*") + glob.glob("/dev/vfio/[0-9]*"))
    return [
        {
            "path": path,
            "is_allowed": os.access(path, os.R_OK | os.W_OK),
            "group": _group(path),
            "holders": holders(path),
        }
        for path in paths
    ]


def _group(path: str) -> str:
    import grp  # noqa: PLC0415 - not everywhere

    try:
        return grp.getgrgid(os.stat(path).st_gid).gr_name
    except (OSError, KeyError):
        return ""


def holders(path: str) -> List[Dict[str, Any]]:
    """Processes that have a device open, as far as this account may see."""
    found = []
    for link in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            if os.readlink(link) != path:
                continue
            pid = link.split("/")[2]
            with open("/proc/" + pid + "/cmdline", "rb") as file:
                words = file.read(300).replace(b"\0", b" ").decode("utf-8", "replace").strip()
        except OSError:
            continue  # it ended or closed it meanwhile
        found.append({"pid": int(pid), "words": words})
    return found


def gpus(root: str = "/") -> List[str]:
    """Names of the graphics cards that the driver shows; `root` has the kernel's files."""
    names = []
    for path in sorted(glob.glob(root + "proc/driver/nvidia/gpus/*/information")):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = [line.partition(":") for line in file.read(8192).splitlines()]
        except OSError:
            continue
        names += [value.strip() for key, _, value in lines if key == "Model"]
    return names


def cloud() -> Dict[str, str]:
    """The metadata of a computer in Google's cloud; nothing is requested elsewhere."""
    try:
        with open("/sys/class/dmi/id/product_name", encoding="utf-8") as file:
            product = file.read(200).strip()
    except (OSError, UnicodeDecodeError):
        return {}
    if "Google" not in product:
        return {}
    said = {key: metadata(path) for key, path in _KEYS.items()}
    said["product"] = product
    return said


def metadata(path: str, address: Tuple[str, int] = _METADATA) -> str:
    """One value of the computer's own description; "" where there is none within a second."""
    request = "GET /computeMetadata/v1/%s HTTP/1.0\r\nMetadata-Flavor: Google\r\n\r\n" % path
    try:
        with socket.create_connection(address, _METADATA_S) as line:
            line.settimeout(_METADATA_S)
            line.sendall(request.encode("ascii"))
            answer = b""
            while len(answer) < 8192:
                piece = line.recv(8192)
                if not piece:
                    break
                answer += piece
    except OSError:
        return ""
    head, _, body = answer.partition(b"\r\n\r\n")
    return body.decode("utf-8", "replace").strip()[:500] if b" 200 " in head[:20] else ""
