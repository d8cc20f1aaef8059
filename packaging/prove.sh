#!/usr/bin/env bash
# Heavy proofs, each a command of its own: `prove.sh NAME [OPTIONS]`; without NAME lists them.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

make_venv requirements-dev.lock
cd "$project"
if [ $# -eq 0 ]; then
    say "Usage: bash packaging/prove.sh NAME [OPTIONS]; proofs:"
    for file in tests/proofs/[a-z]*.py; do
        name=${file##*/}
        printf '  %-18s %s\n' "${name%.py}" "$(sed -n '1s/^"""\([^"]*\).*/\1/p' "$file")"
    done
    exit 2
fi
name=$1; shift
# shellcheck disable=SC2046 # package names have no spaces
case "$name" in export_* | telemetry) install_missing $(missing_programs node nodejs npm npm); make_node_packages ;; esac
# shellcheck disable=SC2046 # as above
case "$name $*" in remote*|several_machines*--ssh*) install_missing $(missing_programs ssh openssh-client sshd openssh-server ip iproute2) ;; esac
exec "$venv/bin/python" -m "tests.proofs.$name" "$@"
