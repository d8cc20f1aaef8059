"""Address, account and key of a TPU VM, as Google's own program prints them.

Only its dry run is called: it may write the account's ssh key into the cloud project, as it
always does, but connects nowhere. Its own first contact would trust any host key.
"""

from __future__ import annotations

import re
import shlex
from pathlib import PurePath

from workbench.errors import DeadlineError, RemoteError, UsageError
from workbench.hardware.cluster import checked_port, parse_address
from workbench.processes.child import Child
from workbench.remote.ssh.command import RemoteHost, plain

DEADLINE_S = 30.0
_MOST_OUTPUT = 1 << 20

NO_FIRST_CHECK = (
    "gcloud trusts any host key at the first connection to a TPU VM; Workbench shows "
    "you the fingerprint first."
)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_PLACE = re.compile(r"[a-z][a-z0-9.:-]{0,62}")
_WITH_VALUE = frozenset("BbcDEeFIiJLlmOopQRSWw")
"""Options of ssh that take a value."""


def place_from_gcloud(
    name: str, zone: str = "", project: str = "", *, deadline_s: float = DEADLINE_S
) -> RemoteHost:
    """The place of a TPU VM by its name; zone and project "" for gcloud's own defaults.

    gcloud is ended after the deadline: it may wait for a log-in. Raises UsageError for a name that
    is not allowed, RemoteError where gcloud is missing, rejects, or prints nothing that is
    understood.
    """
    argv = gcloud_argv(name, zone, project)
    try:
        with Child(argv, name="gcloud", order=b"") as child:
            output = child.rest(limit=_MOST_OUTPUT, deadline_s=deadline_s)
            code, errors = child.exit_code(), child.last_words()
    except FileNotFoundError as error:
        raise RemoteError(
            "Google's gcloud is not installed on this computer.",
            key="no_gcloud",
            where=f"tpu:{name}",
            fix="Install it, or connect with ssh:USER@ADDRESS/tpu:local: the cloud console shows "
            "the address.",
        ) from error
    except DeadlineError as error:
        raise RemoteError(
            "gcloud did not respond: it may be waiting for a login.",
            key="gcloud_silent",
            where=" ".join(argv),
            expected=f"a response within {deadline_s:.0f} s",
            fix="Run this command in a terminal once.",
        ) from error
    if code:
        raise RemoteError(
            "gcloud could not find the TPU VM.",
            key="gcloud",
            where=" ".join(argv),
            received=plain(errors[-600:]).strip(" .\n"),
            fix="Check name, zone and project, and that you are logged in (gcloud auth login).",
        )
    return place_in(output.decode("utf-8", "replace"), " ".join(argv))


def gcloud_argv(name: str, zone: str, project: str) -> list[str]:
    """The dry run of gcloud's ssh; raises UsageError for what no name may be."""
    for text, pattern, what in (
        (name, _NAME, "name"),
        (zone or "a", _PLACE, "zone"),
        (project or "a", _PLACE, "project"),
    ):
        if not pattern.fullmatch(text):
            raise UsageError(
                f"Not a valid {what} of a TPU VM.",
                where=what,
                received=plain(text[:100]),
                expected="letters, digits, dots and dashes",
            )
    argv = ["gcloud", "compute", "tpus", "tpu-vm", "ssh", name, "--worker=0", "--dry-run"]
    argv += [f"--{key}={text}" for key, text in (("zone", zone), ("project", project)) if text]
    return [*argv, "--quiet"]


def place_in(output: str, requested: str) -> RemoteHost:
    """The place in gcloud's dry run; raises RemoteError without ssh command, or with a tunnel."""
    for line in output.splitlines():
        try:
            words = shlex.split(line)
        except ValueError:
            continue
        if words and PurePath(words[0].replace("\\", "/")).stem in {"ssh", "plink", "putty"}:
            try:
                return _place_of(words[1:])
            except UsageError as error:
                raise _not_understood(requested, line) from error
    raise _not_understood(requested, output)


def _place_of(words: list[str]) -> RemoteHost:
    destination, options = "", dict[str, str]()
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            destination = word
            break
        if len(word) > 1 and word[1] in _WITH_VALUE:
            value = word[2:] or next(rest, "")
            name, _, option = value.partition("=") if word[1] == "o" else (word[1], "", value)
            options.setdefault(name.lower(), option)
    if "proxycommand" in options or "proxyjump" in options or "j" in options:
        raise UsageError("The connection goes through a tunnel.")
    address = parse_address(destination)
    port = options.get("p") or options.get("port") or ""
    return RemoteHost(
        host=address.host,
        user=address.user or options.get("l", "") or options.get("user", ""),
        port=checked_port(port) if port else address.port,
        key_file=options.get("i", "") or options.get("identityfile", ""),
    )


def _not_understood(requested: str, received: str) -> RemoteError:
    return RemoteError(
        "The output of gcloud has no address that can be reached directly.",
        key="gcloud_words",
        where=requested,
        received=plain(received.strip()[:400]),
        fix="Give the TPU VM a public address, or add a Host entry to ~/.ssh/config and "
        "connect with ssh:HOST/tpu:local.",
    )
