"""The classes of the project's data: shown, renamed, merged, left out."""
