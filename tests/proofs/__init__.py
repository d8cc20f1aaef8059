"""Heavy proofs, each a command of its own: `bash packaging/prove.sh NAME`."""
