"""Files: the one save routine, locks, strict JSON, migrations."""
