"""Each text that a TPU or TensorFlow is known to print comes out as its own words."""

from __future__ import annotations

import pytest

from workbench.hardware.tpu_faults import TPU_FAULTS, fault_of

TEXTS = [
    (
        (
            "NotFoundError: TPUs not found in the cluster. Failed in initialization: {{node x}} "
            "/job:worker/replica:0/task:0/device:TPU_SYSTEM:0 unknown device."
        ),
        "no_tpu_there", "has no TPU",
    ),
    (
        (
            "NotFoundError: TPUs not found in the cluster. Failed in initialization: No OpKernel was "
            "registered to support Op 'ConfigureDistributedTPU' used by {{node x}}"
        ),
        "no_tpu_support", "no TPU support",
    ),
    ("No TPU platform registered. Waiting 1 second and trying again...", "no_chip", "no TPU in this"),
    ("InternalError: RET_CHECK failure (tpu_util.cc:58) *platform", "no_chip", "no TPU in this"),
    (
        "Failed to get TPU metadata (tpu-env) from instance metadata: curl metadata.google.internal",
        "no_metadata", "not a TPU VM",
    ),
    (
        "F0000 TpuExecutable_FreeMaybeOwningDeviceMemoryArray not available in this library.",
        "wrong_libtpu", "TpuExecutable_FreeMaybeOwningDeviceMemoryArray",
    ),
    (
        "ConfigureDistributedTpuOp_DoWork not available in this library",
        "wrong_libtpu", "ConfigureDistributedTpuOp_DoWork",
    ),
    ("IndexError: index 0 is out of bounds for axis 0 with size 0", "not_initialized", "before it"),
    (
        "RuntimeError: Missing runtime dependency on the Google API client. Run pip install x",
        "no_api_client", "cannot be reached by its name",
    ),
    ("ValueError: Please provide a TPU Name to connect to.", "unknown_name", "no TPU with that name"),
    ("ValueError: Could not lookup TPU metadata from name 'mine'.", "unknown_name", "with that name"),
    (
        'RuntimeError: TPU "mine" is not yet ready; state: "PREEMPTED"',
        "not_ready", "The TPU mine is not ready yet: its state is PREEMPTED",
    ),
    (
        "ABORTED: The TPU is already in use by process with pid 4321. Not attempting to load.",
        "busy", "another process 4321.",
    ),
    ("libtpu.so already in use by another process.", "busy", "in use"),
    ("failed to open /tmp/libtpu_lockfile: Permission denied", "busy", "in use"),
    (
        "ABORTED: Internal error when accessing libtpu multi-process lockfile. Run rm x",
        "busy", "in use",
    ),
    ("open(/dev/accel0): Operation not permitted: Couldn't open device", "not_permitted", "no permission"),
    ("PermissionError: [Errno 13] Permission denied: '/dev/vfio/0'", "not_permitted", "no permission"),
    (
        "ResourceExhaustedError: Ran out of memory in memory space hbm. Used 8.38G of 8.00G hbm.",
        "hbm", "It needs 8.38 GB per core; this TPU has 8.00.",
    ),
    (
        (
            "E1000: CompileTimeHbmOom: XLA:TPU compile permanent error. Program size (36.1G): HLO "
            "temporaries (35.42G) exceeds available HBM (15.75G)"
        ),
        "hbm", "It needs 35.42 GB per core; this TPU has 15.75.",
    ),
    (
        "RESOURCE_EXHAUSTED: failed to allocate 128MB from the premapped region",
        "premapped", "memory that the TPU reads from",
    ),
    ("UnavailableError: recvmsg:Connection reset by peer", "gone", "lost: it was preempted"),
    ("ValueError: sendmsg: Broken pipe", "gone", "lost: it was preempted"),
    ("ValueError: recvmsg: End of file", "gone", "lost: it was preempted"),
    ("UnavailableError: Socket closed", "gone", "lost: it was preempted"),
    ("InvalidArgumentError: Unable to find a context_id matching 1234", "gone", "lost: it was preempted"),
    ("AbortedError: RecvTensor expects a different device incarnation: 1 vs. 2", "gone", "lost: it was preempted"),
    (
        "UnimplementedError: File system scheme '[local]' not implemented (file: 'a/b')",
        "tpu_node", "old architecture",
    ),
    (
        "NotFoundError: No OpKernel was registered to support Op 'PyFunc' used by {{node PyFunc}}",
        "python_function", "Python function",
    ),
    ("on XLA_TPU_JIT: EagerPyFunc (No registered 'EagerPyFunc' OpKernel", "python_function", "Python"),
    (
        (
            "InvalidArgumentError: Detected unsupported operations when trying to compile graph "
            "__inference_step_1[] on XLA_TPU_JIT: ImageProjectiveTransformV3 (No registered "
            "'ImageProjectiveTransformV3' OpKernel for XLA_TPU_JIT){{node rotate/Image}}"
        ),
        "unsupported_operation", "ImageProjectiveTransformV3 of this network (at rotate/Image)",
    ),
    (
        (
            "NotFoundError: {{function_node __inference_x_1}} could not find registered transfer "
            "manager for platform Host -- check target linkage [Op:__inference_compute_4121]"
        ),
        "no_processor_xla", "cannot compile for the CPU",
    ),
    ("InvalidArgumentError: shape must be a compile-time constant", "dynamic_shape", "only known"),
    ("Dynamic concatenation is not supported yet", "dynamic_shape", "only known"),
    (
        "input dynamic dimension is decomposed into multiple output dynamic dimensions",
        "dynamic_shape", "only known",
    ),
    ("NotFoundError: Op type not registered 'X' in binary running on vm", "version_skew", "versions"),
    (
        (
            "'__inference__tpu_init_fn_4' is neither a type of a primitive operation, or not registered "
            "in binary"
        ),
        "version_skew", "different versions",
    ),
    (
        "NotImplementedError: TPUStrategy.run(fn, ...) does not support pure eager execution.",
        "eager", "compiled functions",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "key", "words"), TEXTS)
def test_each_text_of_a_tpu_is_explained(text, key, words):
    found = fault_of(text, is_connecting=True)
    assert (found.key, found.fix != "") == (key, True)
    assert words in found.words
    assert "{" not in found.words


def test_every_fault_has_a_text():
    assert {fault.key for fault in TPU_FAULTS} == {key for _, key, _ in TEXTS}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "IndexError: index 0 is out of bounds for axis 0 with size 0",
        "ResourceExhaustedError: OOM when allocating tensor with shape[1024,4096] on /device:CPU:0",
        "ValueError: Shapes (None, 10) and (None, 3) are incompatible",
        "FileNotFoundError: [Errno 2] No such file or directory: 'cat.png'",
        "OSError: [Errno 28] No space left on device",
        "InvalidArgumentError: Graph execution error: NaN",
        "PermissionError: [Errno 13] Permission denied: '/data/cat.png'",
    ],
)
def test_what_has_to_do_with_no_tpu_is_left_to_others(text):
    assert fault_of(text) is None


def test_a_long_text_takes_no_time_to_speak_of():
    assert fault_of("CompileTimeHbmOom (" * 50_000) is None
