#!/usr/bin/env bash
# Prints the benchmarks; `bench.sh NAME` runs one of tests/benchmarks/*.py.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

make_venv requirements-dev.lock
# shellcheck disable=SC2046 # package names have no spaces
install_missing $(missing_window_packages) $(missing_programs Xvfb xvfb xvfb-run xvfb xauth xauth)
cd "$project"
if [ $# -gt 0 ]; then name=$1; shift; set -- "$name" "$@"; else set -- all; fi
exec "$venv/bin/python" -m tests.benchmarks "$@"
