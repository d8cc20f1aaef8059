"""The fields of a training recipe, one file for each section of its form."""
