"""What every target must keep to, and what each says of itself; no TensorFlow."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from workbench.core.params import defaults
from workbench.core.projects.project import Choice
from workbench.core.projects.texts import parse_target, target_text
from workbench.errors import RunError, UsageError
from workbench.targets import all_targets

VIRTUAL = all_targets()["virtual"]


@pytest.mark.parametrize("spec", all_targets().values(), ids=lambda spec: spec.key)
def test_every_target_describes_itself_and_is_named_by_a_text(spec):
    params = defaults(spec.params)
    assert spec.title
    assert spec.summary.endswith(".")
    assert spec.describe(params)
    assert spec.replicas(params) == spec.limits(params).replicas >= 1
    assert all(isinstance(value, str) for value in spec.environment(params).values())
    choice = Choice(spec.key, params)
    assert parse_target(target_text(choice, all_targets()), all_targets()) == choice


def test_virtual_is_read_and_obeyed():
    choice = parse_target("virtual:2", all_targets())
    assert choice == Choice("virtual", {"replicas": 2, "like_tpu": False})
    limits = VIRTUAL.limits(choice.params)
    assert (limits.replicas, limits.jit_step, limits.has_bfloat16) == (2, False, None)
    assert parse_target("virtual", all_targets()).params["replicas"] == 8


def test_virtual_can_keep_to_the_rules_of_a_tpu():
    choice = parse_target("virtual:4,like_tpu", all_targets())
    assert choice.params == {"replicas": 4, "like_tpu": True}
    limits = VIRTUAL.limits(choice.params)
    kept = (limits.own_layers, limits.jit_host, limits.may_measure, limits.jit_step)
    assert not any(kept)
    assert VIRTUAL.label(choice.params) == "4 simulated devices, TPU rules"


@pytest.mark.parametrize(
    "value", ["1", "65", "-2", "2.0", "two", "2 3", "²", "9" * 5_000, ",like_tpu", "2,"]
)
def test_virtual_refuses_what_is_no_number_of_replicas(value):
    with pytest.raises(UsageError) as caught:
        parse_target(f"virtual:{value}", all_targets())
    assert "from 2 to 64" in str(caught.value)


def _tensorflow(there):
    """As much of TensorFlow as connecting uses, with so many devices begun; 0: not begun."""

    def configure(_processor, devices):
        if there:
            raise RuntimeError("cannot be modified after being initialized")
        assert len(devices) == 2

    config = SimpleNamespace(
        list_physical_devices=lambda kind: [kind],
        list_logical_devices=lambda kind: [kind] * there,
        set_logical_device_configuration=configure,
        LogicalDeviceConfiguration=object,
    )
    distribute = SimpleNamespace(
        MirroredStrategy=lambda devices, cross_device_ops: devices,
        ReductionToOneDevice=lambda: None,
    )
    return SimpleNamespace(config=config, distribute=distribute)


@pytest.mark.parametrize("there", [0, 2, 8])
def test_virtual_takes_the_devices_that_there_are(there):
    assert VIRTUAL.connect(_tensorflow(there), {"replicas": 2}) == ["/cpu:0", "/cpu:1"]


def test_virtual_says_that_a_process_cannot_make_more():
    with pytest.raises(RunError, match="fewer replicas") as caught:
        VIRTUAL.connect(_tensorflow(1), {"replicas": 2})
    assert caught.value.received == "1 replicas"
