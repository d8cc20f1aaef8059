"""A network of 8-bit integers as one C header, from LiteRT's converter.

The converter's int8 operators become C code that calls the kernels of `resources/programs/c`; no
runtime is needed.

flat         what the converter has written: tensors and operators
fixed_point  scales as integer multipliers, ranges of numbers of 8 bits
pointwise    functions of one number, as tables of 256 results
program      buffers, constants and steps: what the C code is made of
lowering     from operators to steps; windows, axes and others: one module for each kind
arena        the places of buffers in one piece of memory, by their lifetimes
header       the text
"""

from __future__ import annotations
