#!/usr/bin/env bash
# Sets everything up and runs all checks and tests; arguments go to pytest (then only tests run).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

make_venv requirements-dev.lock
# shellcheck disable=SC2046 # package names have no spaces
install_missing $(missing_window_packages) $(missing_programs Xvfb xvfb xvfb-run xvfb xauth xauth xdotool xdotool xprop x11-utils git git ssh openssh-client sshd openssh-server)
if [ ! -d /usr/share/datasets/fashion-mnist ]; then
    apt_install dataset-fashion-mnist || say "Going on without dataset-fashion-mnist: one test will say so."
fi

cd "$project"
export QT_QPA_PLATFORM=offscreen
if [ $# -gt 0 ]; then exec "$venv/bin/python" -m pytest "$@"; fi

say "Lint"; "$venv/bin/ruff" check .; "$venv/bin/ruff" format --check .
say "Types"; "$venv/bin/mypy"
say "Import contracts"; "$venv/bin/lint-imports" --no-logo 2>/dev/null || "$venv/bin/lint-imports"
say "Tests"; exec "$venv/bin/python" -m pytest
