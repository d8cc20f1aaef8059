"""TPU and graphics cards by what there is of them on a disk; no TensorFlow, no network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.projects.project import Choice
from workbench.core.projects.texts import parse_target, target_text
from workbench.errors import TpuError, UsageError
from workbench.hardware import tpu_host as _tpu_host
from workbench.hardware.tpu_host import TpuHost, packages_problem, runtime_variables
from workbench.host import chips
from workbench.targets import all_targets, gpu, tpu

TPU, GPU = all_targets()["tpu"], all_targets()["gpu"]

names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)
places = st.from_regex(r"[a-z][a-z0-9-]{0,12}", fullmatch=True)
ports = st.integers(1, 65_535)
named = st.builds(
    lambda name, zone, project: {"address": name, "zone": zone, "project": project},
    names.filter(lambda name: name != "local"),
    st.just("") | places,
    st.just("") | places,
)
grpc = st.builds(
    lambda host, port: {"address": f"grpc://{host}:{port}", "zone": "", "project": ""},
    names | st.just("[::1]") | st.ip_addresses(v=6).map(lambda address: f"[{address}]"),
    ports,
)
local = st.just({"address": "local", "zone": "", "project": ""})


@given(local | named | grpc)
def test_a_tpus_text_names_the_same_tpu_again(params):
    choice = Choice("tpu", params)
    assert parse_target(target_text(choice, all_targets()), all_targets()) == choice


@given(st.text(max_size=30))
def test_any_text_is_a_tpu_or_wrong_usage(text):
    try:
        choice = parse_target(f"tpu:{text}", all_targets())
    except UsageError:
        return
    assert parse_target(target_text(choice, all_targets()), all_targets()) == choice


@pytest.mark.parametrize(
    "value",
    [
        "-oProxyCommand=touch", "a;touch b", "$(touch b)", "a b", "a@", "a@z/", "local@z", "a@z/p/q",
        "a@-z", "grpc://", "grpc://h", "grpc://h:0", "grpc://h:65536", "grpc://h:1/x", "http://h:1",
        "grpc://-h:1", "grpc://a b:1", "a" * 64,
    ],
)  # fmt: skip
def test_what_is_no_tpu_is_refused(value):
    with pytest.raises(UsageError):
        parse_target(f"tpu:{value}", all_targets())


@pytest.mark.parametrize(
    ("variables", "texts"),
    [
        ({}, []),
        ({"COLAB_TPU_ADDR": "10.0.0.2:8470"}, ["tpu:grpc://10.0.0.2:8470"]),
        ({"COLAB_TPU_ADDR": "grpc://10.0.0.2:8470"}, ["tpu:grpc://10.0.0.2:8470"]),
        ({"TPU_NAME": "local"}, ["tpu:local"]),
        ({"TPU_NAME": "grpc://h:1"}, ["tpu:grpc://h:1"]),
        (
            {
                "TPU_NAME": "mine",
                "CLOUDSDK_COMPUTE_ZONE": "us-central1-a",
                "CLOUDSDK_CORE_PROJECT": "p",
            },
            ["tpu:mine@us-central1-a/p"],
        ),
        ({"COLAB_TPU_ADDR": "h:1", "TPU_NAME": "mine"}, ["tpu:grpc://h:1", "tpu:mine"]),
        ({"COLAB_TPU_ADDR": "$(touch x)", "TPU_NAME": "-oProxyCommand=x"}, []),
        ({"TPU_NAME": "mine", "CLOUDSDK_COMPUTE_ZONE": "a b"}, []),
    ],
)
def test_variables_that_name_a_tpu_are_found(variables, texts):
    found = TPU.found(variables)
    assert [target_text(Choice("tpu", params), all_targets()) for params, _ in found] == texts
    assert all(why.startswith("from ") for _, why in found)


def computer(root: Path, *, device="0x0063", nodes=("accel0", "accel1"), vendor="0x1ae0"):
    """The files of a computer with a card on its bus and device nodes."""
    card = root / "sys/bus/pci/devices/0000:00:05.0"
    card.mkdir(parents=True)
    (card / "vendor").write_text(f"{vendor}\n")
    (card / "device").write_text(f"{device}\n")
    for node in nodes:
        path = root / "dev" / node
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return TpuHost(root, {})


@pytest.mark.parametrize(
    ("device", "nodes", "generation", "replicas"),
    [
        ("0x0063", ("accel0", "accel1"), "v5e", 2),
        ("0x0027", ("accel0", "accel1", "accel2", "accel3"), "v3", 8),
        ("0x006f", ("vfio/0", "vfio/1", "vfio/vfio"), "v6e", 2),
        ("0x0062", ("vfio/0",), "v5p", 1),
        ("0x0063", (), "v5e", 0),
    ],
)
def test_chips_are_counted(tmp_path, device, nodes, generation, replicas):
    host = computer(tmp_path, device=device, nodes=nodes)
    assert (host.generation(), host.replicas()) == (generation, replicas)


def test_another_makers_card_is_no_tpu(tmp_path):
    host = computer(tmp_path, vendor="0x10de", nodes=("vfio/0",))
    assert (host.generation(), host.chips()) == ("", [])
    assert "No TPU in this computer" in str(host.problem())


def test_the_type_that_the_vm_names_comes_first(tmp_path):
    computer(tmp_path, device="0x0027")
    host = TpuHost(tmp_path, {"TPU_ACCELERATOR_TYPE": "v2-8"})
    assert host.generation() == "v2"
    assert TpuHost(tmp_path, {"TPU_ACCELERATOR_TYPE": "v5litepod-4"}).generation() == "v5e"


def test_ironwood_needs_jax(tmp_path):
    assert "needs JAX" in str(computer(tmp_path, device="0x0076").problem())


def test_without_access_to_the_chip_the_error_names_the_group(tmp_path, monkeypatch):
    host = computer(tmp_path)
    monkeypatch.setattr(_tpu_host.os, "access", lambda path, mode: False)  # root may everything
    problem = host.problem()
    assert "No permission" in problem.what
    assert "usermod -aG" in problem.fix


def test_who_holds_the_chip_is_named_and_a_run_of_ours_with_its_folder(tmp_path):
    """A real process with the node open, seen through the real /proc."""
    host = computer(tmp_path)
    (tmp_path / "proc").symlink_to("/proc")
    node = host.chips()[0]
    assert host.holders() == []
    code = "import sys, time; open(sys.argv[1]); f = open(sys.argv[1]); print(flush=True); time.sleep(60)"
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code, str(node), "workbench.worker", "train", "/r"],
        stdout=subprocess.PIPE,
    ) as process:
        try:
            process.stdout.readline()
            (holder,) = host.holders()
            assert (holder.pid, holder.run) == (process.pid, "/r")
            assert "workbench stop /r" in host.problem().fix
        finally:
            process.kill()
    assert host.holders() == []


def test_this_process_does_not_block_itself(tmp_path):
    host = computer(tmp_path)
    (tmp_path / "proc").symlink_to("/proc")
    with host.chips()[0].open():
        assert os.getpid() not in [holder.pid for holder in host.holders()]


@pytest.mark.parametrize(
    ("tensorflow_tpu", "libtpu", "expected"),
    [
        ("2.19.1", "0.0.10", None),
        ("2.19.1", "0.0.51", "0.0.10"),
        ("2.20.0", "0.0.14", None),
        ("2.20.0", "0.0.24", None),
        ("2.20.0", "0.0.31", None),
        ("2.20.0", "0.0.32", "0.0.14 to 0.0.31"),
        ("2.20.0", "0.0.32.1", "0.0.14 to 0.0.31"),
        ("2.20.0", "0.0.42.1", "0.0.14 to 0.0.31"),
        ("2.20.0", "0.0.51", "0.0.14 to 0.0.31"),
        ("2.20.0", "0.0.10", "0.0.14 to 0.0.31"),
        ("2.19.1", "", ""),
        ("", "", "tensorflow-tpu 2.19.1, in its own environment"),
    ],
)
def test_which_libtpu_fits_which_tensorflow(tensorflow_tpu, libtpu, expected):
    problem = packages_problem(tensorflow_tpu, libtpu)
    assert (problem.expected if problem else None) == expected
    assert problem is None or "tensorflow-tpu==2.19.1" in problem.fix


def test_newer_generations_get_their_runtime_version(monkeypatch):
    assert runtime_variables("v3") == runtime_variables("v4") == runtime_variables("") == {}
    for generation in ("v5e", "v5p", "v6e"):
        variables = runtime_variables(generation)
        assert variables["PJRT_DEVICE"] == "TPU"
        assert set(variables) == {
            "PJRT_DEVICE", "NEXT_PLUGGABLE_DEVICE_USE_C_API", "TF_PLUGGABLE_DEVICE_LIBRARY_PATH",
            "TF_XLA_FLAGS",
        }  # fmt: skip


def test_the_library_is_found_without_importing_anything(tmp_path, monkeypatch):
    package = tmp_path / "libtpu"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert _tpu_host.libtpu_path() == str(package / "libtpu.so")
    assert "libtpu" not in sys.modules


def test_limits_of_a_tpu():
    limits = TPU.limits({"address": "local", "zone": "", "project": ""})
    allowed = (limits.may_measure, limits.jit_step, limits.jit_host, limits.own_layers)
    assert not any(allowed)
    assert (limits.has_bfloat16, limits.environment, limits.call_s) == (True, "tpu", 0.5)


@pytest.mark.skipif(bool(TpuHost().chips()), reason="there is a TPU")
def test_without_a_tpu_it_is_not_offered_and_says_why():
    assert not TPU.is_offered()
    assert "No TPU in this computer" in str(TPU.probe({"address": "local"}))


def test_a_tpu_by_its_name_leads_to_ssh():
    params = {"address": "mine", "zone": "us-central1-a", "project": ""}
    assert TPU.is_remote(params)
    problem = TPU.probe(params)
    assert isinstance(problem, TpuError)
    assert "workbench host add tpu:mine@us-central1-a" in problem.fix


def test_what_tensorflow_raises_while_connecting_is_explained():
    error = tpu._in_words(IndexError("index 0 is out of bounds for axis 0 with size 0"))
    assert "before it was initialized" in error.what
    error = tpu._in_words(ValueError("never seen"))
    assert "could not be started" in error.what
    assert "never seen" in error.received


def test_cards_are_counted_and_asked_for_by_number(tmp_path):
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia0caps"):
        (tmp_path / "dev").mkdir(exist_ok=True)
        (tmp_path / "dev" / name).write_text("")
    assert gpu.cards(tmp_path) == [0, 1]
    information = tmp_path / "proc/driver/nvidia/gpus/0000:01:00.0/information"
    information.parent.mkdir(parents=True)
    information.write_text("Model: \t\t NVIDIA L4\nIRQ: 1\n")
    assert chips.gpus(f"{tmp_path}/") == ["NVIDIA L4"]
    choice = parse_target("gpu:0,1", all_targets())
    assert GPU.limits(choice.params).replicas == 2
    assert GPU.environment(choice.params)["CUDA_VISIBLE_DEVICES"] == "0,1"
    assert "CUDA_VISIBLE_DEVICES" not in GPU.environment({"devices": "all"})
    assert target_text(choice, all_targets()) == "gpu:0,1"


@pytest.mark.skipif(bool(gpu.cards()), reason="there is a card")
def test_without_a_card_it_is_not_offered_and_says_why():
    assert not GPU.is_offered()
    assert "No NVIDIA GPU" in str(GPU.probe({"devices": "all"}))
