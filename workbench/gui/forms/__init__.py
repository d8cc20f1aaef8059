"""Forms made from parameters: one editor for each kind of `Param`.

A form knows no plug-in: rows, bounds and errors follow from the parameters that it is given.
"""
