"""The end of a file: its last lines without what could drive a terminal."""

from __future__ import annotations

from workbench.core.storage.foreign_file import tail_bytes, tail_lines, without_noise


def test_the_last_lines_are_given_without_control_characters(tmp_path):
    path = tmp_path / "log.txt"
    path.write_bytes(b"one\n\n \x1b[31mtwo\xff\nthree")
    assert tail_lines(path, max_lines=2) == (" [31mtwo\ufffd", "three")
    assert tail_lines(path, max_lines=9)[0] == "one"
    assert tail_bytes(path, 5) == b"three"


def test_a_file_that_is_not_there_has_no_end(tmp_path):
    assert tail_bytes(tmp_path / "log.txt", 5) == b""
    assert tail_lines(tmp_path / "log.txt", max_lines=2) == ()


def test_what_tensorflow_prints_at_each_start_is_no_reason():
    noise = [
        "2026-11-28 01:02:03.123456: I tensorflow/core/platform/cpu_feature_guard.cc:210] This",
        "2026-11-28 01:02:03.1: E external/local_xla/xla/stream_executor/cuda/cuda_fft.cc:467] Un",
        "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR",
        "E0000 00:00:1764291723.123 1234 cuda_dnn.cc:8579] Unable to register cuDNN factory",
        "W0000 00:00:1764291723.123 1234 computation_placer.cc:177] computation placer already",
        "To enable the following instructions: AVX2 FMA, in other operations, rebuild TensorFlow",
    ]
    telling = [
        "Traceback (most recent call last):",
        "MemoryError",
        "F0000 00:00:1764291723.1 1 hlo.cc:1] Check failed: index < size",
        "E0000 00:00:1764291723.1 1 memory.cc:1] The disk is full",
        "INFO: an answer in the user's own words",
    ]
    assert without_noise([*noise, *telling]) == tuple(telling)
