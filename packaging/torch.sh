#!/usr/bin/env bash
# Prints the Python of an environment with PyTorch 2.13 for processors; makes it when needed.
# Only the benchmark against PyTorch uses it.
set -euo pipefail

version=2.13.0
venv="${XDG_CACHE_HOME:-$HOME/.cache}/workbench/torch-$version"
if ! "$venv/bin/python" -c 'import torch' 2>/dev/null; then
  rm -rf "$venv"
  python3.11 -m venv "$venv" >&2 2>/dev/null || python3 -m venv "$venv" >&2
  "$venv/bin/python" -m pip install --quiet "torch==$version" numpy >&2
fi
echo "$venv/bin/python"
