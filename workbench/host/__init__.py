"""What runs on another computer before anything of ours is installed there.

Its sources are sent over ssh and run by whatever Python is found: standard library only, the
syntax of Python 3.6, no import from the rest of the application. Frames (`wire`), limits of
memory (`memory`) and the end of process groups (`children`) are used on this computer as well.
Environment, program and images are kept there by their sha256 and sent once (`store`).
"""
