"""Projects, runs and images that move: images found again at another place, bundles in one file.

- Images that have moved are used from their new place only after the user has chosen it and their
  contents were compared with those that the runs keep (`FoundData`).
- A bundle is foreign: `open_bundle` writes only what the limited child `processes.archive_reader`
  reads, under plain names, into a new folder. None of its runs starts by itself.
"""
