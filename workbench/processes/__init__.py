"""Processes of this computer: children with a deadline, a fork, and memory. Qt-free.

A `Child` is ended with everything that it has started. Foreign archives and HDF5 files are read in
short-lived children (`limited_command`) that limit their memory and processor time before they read
the first byte; such a child is run by path and imports nothing of Workbench. `installing` runs pip
for a missing part while the program is running.
"""
