"""Several computers that one ssh target names; nothing is connected."""

from __future__ import annotations

import pytest

from workbench.cli import main
from workbench.core.params import check_all
from workbench.core.projects.project import Choice
from workbench.core.projects.texts import parse_target, target_text
from workbench.errors import UsageError
from workbench.remote.mirror.cluster_hosts import Members, members_of
from workbench.targets import all_targets
from workbench.targets.ssh import computers, trains_on

SSH = all_targets()["ssh"]


@pytest.mark.parametrize(
    ("text", "machines"),
    [
        ("ssh:one,two", "one,two"),
        ("ssh:me@one:2222,you@two,[fe80::1]:22", "one,two,[fe80::1]"),
        ("ssh:one,two/several:10.0.0.1,10.0.0.2:9", "10.0.0.1,10.0.0.2:9"),
        ("ssh:a@one:1,a@one:2/several:one:5,one:6", "one:5,one:6"),
    ],
)
def test_a_text_names_all_computers(text, machines):
    choice = parse_target(text, all_targets())
    assert target_text(choice, all_targets()) == text
    assert trains_on(choice.params) == Choice("several", {"machines": machines})
    assert SSH.probe(choice.params) is None
    limits = SSH.limits(choice.params)
    assert limits.replicas == len(computers(choice.params)) == machines.count(",") + 1
    assert not limits.may_measure
    cluster = members_of(choice.params).cluster()
    assert b'"index":0' in cluster
    assert cluster != members_of(choice.params).cluster()  # another key


@pytest.mark.parametrize(
    "text",
    [
        "ssh:one,", "ssh:,one", "ssh:one,,two", "ssh:one,-oProxyCommand=x", "ssh:one,two;touch x",
        "ssh:one,$(touch x)", "ssh:one,two:0", "ssh:one,two three",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused_in_every_place(text):
    with pytest.raises(UsageError):
        parse_target(text, all_targets())


@pytest.mark.parametrize("value", ["-oProxyCommand=x", "two,a b", "two\nthree", ",two", 7])
def test_a_project_cannot_smuggle_one_in(value):
    _, errors = check_all(SSH.params, {"host": "one", "others": value})
    assert [error.where for error in errors] == ["others"]


@pytest.mark.parametrize(
    "text",
    ["ssh:one,two/gpu", "ssh:one,two/several:a,b,c", "ssh:one,one", "ssh:me@one,you@one/several:a,b"],
)  # fmt: skip
def test_what_several_computers_cannot_train_is_reported_before_anything_starts(text):
    choice = parse_target(text, all_targets())
    assert isinstance(SSH.probe(choice.params), UsageError)
    with pytest.raises(UsageError):
        members_of(choice.params)


def test_each_is_set_up_by_itself(capsys):
    assert main(["host", "check", "one,two"]) == UsageError.exit_code
    assert "Only one computer at a time" in capsys.readouterr().err


def test_one_computer_has_no_members():
    choice = parse_target("ssh:one/several:localhost,localhost", all_targets())
    assert trains_on(choice.params).params == {"machines": "localhost,localhost"}
    assert members_of(choice.params).cluster() == Members().cluster() == b""
