#!/usr/bin/env bash
# Sets everything up and runs all checks, and all tests but those marked `full`: minutes.
# --full runs everything, --rest what is left after the quick tier; see packaging/lanes.py.
# Other arguments: only pytest, with these. LANES="window rest" restricts to some lanes.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

make_venv requirements-dev.lock
# shellcheck disable=SC2046 # package names have no spaces
install_missing $(missing_window_packages) $(missing_programs Xvfb xvfb xvfb-run xvfb xauth xauth xdotool xdotool openbox openbox xprop x11-utils git git strace strace gcc gcc g++ g++ ssh openssh-client sshd openssh-server node nodejs npm npm chromium chromium)
make_node_packages
if [ ! -d /usr/share/datasets/fashion-mnist ]; then
    apt_install dataset-fashion-mnist || say "Going on without dataset-fashion-mnist: one test will say so."
fi

cd "$project"
export QT_QPA_PLATFORM=offscreen
case "${1:-}" in
"" | --full | --rest)
    # shellcheck disable=SC2086 # names of lanes have no spaces
    exec "$venv/bin/python" packaging/lanes.py "$@" ${LANES:-}
    ;;
*) exec "$venv/bin/python" -m pytest "$@" ;;
esac
