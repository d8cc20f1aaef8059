"""The classes of the project's data: shown, renamed, merged, left out.

Each change is a value of `DataEdits.classes`; names are compared as in
`workbench.core.class_names`.
"""
