"""Every text of ssh that was seen has words and a remedy."""

from __future__ import annotations

import pytest

from workbench.remote.ssh.command import all_faults, plain, words_of

TEXTS = [
    ("@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\nHost key verification failed.",
     "host_key_changed"),
    ("No ED25519 host key is known for [127.0.0.1]:2222 and you have requested strict checking.",
     "host_key_unknown"),
    ("Host key verification failed.", "host_key_unknown"),
    ("me@vm: Permission denied (publickey).", "not_allowed"),
    ("me@vm: Permission denied (publickey,password,keyboard-interactive).", "not_allowed"),
    ("Received disconnect from 10.0.0.2 port 22:2: Too many authentication failures", "not_allowed"),
    ("@ WARNING: UNPROTECTED PRIVATE KEY FILE! @", "bad_key_file"),
    ('Load key "/home/me/key": error in libcrypto\nme@vm: Permission denied (publickey).',
     "not_allowed"),
    ("ssh: Could not resolve hostname vm: Name or service not known", "no_name"),
    ("ssh: connect to host vm port 22: Connection refused", "refused"),
    ("ssh: connect to host vm port 22: Connection timed out", "unreachable"),
    ("ssh: connect to host vm port 22: No route to host", "unreachable"),
    ("ssh: connect to host vm port 22: Network is unreachable", "unreachable"),
    ("Timeout, server vm not responding.", "cut"),
    ("Connection to vm closed by remote host.", "cut"),
    ("client_loop: send disconnect: Broken pipe", "cut"),
    ("kex_exchange_identification: Connection closed by remote host", "cut"),
    ("Read from remote host vm: Connection reset by peer", "cut"),
    ("Unable to negotiate with 10.0.0.2 port 22: no matching host key type found.",
     "no_common_method"),
    ("/home/me/.ssh/config: line 3: Bad configuration option: hots", "bad_option"),
    ("Bad owner or permissions on /home/me/.ssh/config", "bad_option"),
    ("hostname contains invalid characters", "hostname_refused"),
    ("This account is currently not available.", "account_closed"),
    ("sh: 1: exec: python3: not found", "no_python"),
    ("bash: line 1: exec: python3: not found", "no_python"),
    ("python3: Command not found.", "no_python"),
    ("fish: Unknown command: python3", "no_python"),
    ('  File "<string>", line 1\nSyntaxError: invalid syntax', "old_python"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "key"), TEXTS)
def test_each_text_is_explained(text, key):
    error = words_of(255, text, "me@vm")
    assert error.key == key
    assert error.what.endswith(".")
    assert error.fix
    assert "{" not in error.fix
    assert error.where == "me@vm"


def test_every_fault_has_a_text():
    assert set(all_faults()) - {key for _, key in TEXTS} <= set()


@pytest.mark.parametrize(
    ("code", "key", "is_passing"),
    [(255, "cut", True), (127, "no_python", False), (0, "cut", True), (-9, "cut", True),
     (None, "cut", True), (2, "bridge", False), (126, "bridge", False)],
)  # fmt: skip
def test_an_exit_without_known_words(code, key, is_passing):
    error = words_of(code, "gibberish", "vm")
    assert (error.key, error.is_passing) == (key, is_passing)
    assert error.received == "gibberish"


def test_what_the_other_end_says_drives_no_terminal():
    assert "\x1b" not in words_of(255, "\x1b[31mred\x07", "vm").received
    assert len(plain("x" * 100_000)) < 3000


def test_the_port_is_an_option_of_the_command_that_copies_a_key():
    refusal = "Permission denied (publickey)."
    assert "(ssh-copy-id -p 2292 me@vm)" in words_of(255, refusal, "me@vm:2292").fix
    assert "(ssh-copy-id me@vm)" in words_of(255, refusal, "me@vm").fix
    assert "(ssh-copy-id a name)" in words_of(255, refusal, "a name").fix
