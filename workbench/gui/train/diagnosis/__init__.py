"""The findings on the run that is shown, and what is done with them.

Applying a suggestion is an edit of the project; the run is not touched.
"""
