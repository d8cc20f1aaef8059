"""Benchmarks: figures for people, never asserted in a test. `bash packaging/bench.sh [NAME]`."""
