"""Runs a program and passes its stdin and stdout on, until so many bytes have come from it.

`python cutting_pipe.py BYTES PROGRAM...`: the line is then cut in the middle of whatever is
being said, as a network does it. Standard library only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading


def main() -> None:
    left = int(sys.argv[1])
    child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def pass_in() -> None:
        while data := os.read(0, 65_536):
            try:
                child.stdin.write(data)
            except OSError:
                return
        child.stdin.close()

    threading.Thread(target=pass_in, daemon=True).start()
    while left and (data := os.read(child.stdout.fileno(), min(65_536, left))):
        os.write(1, data)
        left -= len(data)
    child.kill()
    os._exit(255)


if __name__ == "__main__":
    main()
