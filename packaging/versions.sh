#!/usr/bin/env bash
# All checks and tests with other versions of Python: `versions.sh [VERSION ...] [-- LANE ...]`.
# Versions: 3.12 and 3.13 unless named, each as python3.x on PATH. Lanes: packaging/lanes.py.
set -euo pipefail

versions=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do versions+=("$1"); shift; done
[ $# -eq 0 ] || shift
[ ${#versions[@]} -gt 0 ] || versions=(3.12 3.13)
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

failed=()
for version in "${versions[@]}"; do
    python=$(command -v "python$version") || { printf 'python%s is not on PATH.\n' "$version" >&2; failed+=("$version"); continue; }
    printf 'Python %s\n' "$version" >&2
    WORKBENCH_PYTHON=$python WORKBENCH_VENV=$root/build/python$version LANES="$*" \
        bash "$root/packaging/test.sh" --full || failed+=("$version")
done
[ ${#failed[@]} -eq 0 ] || { printf 'Not green: Python %s\n' "${failed[*]}" >&2; exit 1; }
