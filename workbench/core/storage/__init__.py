"""Files: the one save routine, locks, strict JSON, migrations, foreign files.

- The user's files are written by `save` (temporary file, fsync, rename, fsync of the folder). An
  event log is only appended to; a cache can be deleted and made again.
- A project file is compared under a lock right before the rename (`save.OnlyOver`): a version that
  another window has written is replaced only when the user has confirmed it.
- A file that may come from elsewhere is read by `foreign_file` alone: regular files only, up to a
  limit, and opening one never blocks. `tests/house/foreign.py` lists the exceptions.
- Files that the program writes on its own are never written through a link (`own_file`), because
  the folder may come from elsewhere. Only a project, whose path the user has chosen, may be behind
  one. Folders of the program's own are made for the user alone (`make_private`).
- Small JSON files end in a checksum (`json_file`); a program that writes such a file itself leaves
  it out.
- Formats have a version and migrations (`MigrationChain`): pure functions from one version's plain
  dict to the next one's, which leave in place what they do not know.
"""
