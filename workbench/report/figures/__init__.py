"""The figures of a report, as drawings.

A `Drawing` is a value: shapes and texts in a plane. It becomes SVG on a page and is painted by Qt
for a PDF.
"""
