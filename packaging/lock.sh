#!/usr/bin/env bash
# Makes the hashed lock files anew from pyproject.toml (no index addresses in them).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

tool=$(mktemp -d)
trap 'rm -rf "$tool"' EXIT
"$(find_python)" -m venv "$tool" && "$tool/bin/pip" install --quiet uv
cd "$project"
compile() { "$tool/bin/uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url --no-emit-find-links "$@"; }
compile pyproject.toml -o packaging/requirements.lock
compile pyproject.toml --group dev -o packaging/requirements-dev.lock
# What a remote host needs: everything but the window.
grep -v -i -E 'pyside6|pyqtgraph' pyproject.toml >"$tool/pyproject.toml"
compile "$tool/pyproject.toml" -o packaging/requirements-worker.lock
# Google's TPU compiler, for preflights: installed by people into an environment of its own.
printf '%s\n' jax==0.10.2 jaxlib==0.10.2 libtpu==0.0.51 >"$tool/compiler.in"
compile "$tool/compiler.in" -o resources/environments/compiler.lock
