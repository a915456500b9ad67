"""Runs a command on a leash: when whoever started it is gone, even killed, the command and all it started end, too.

It stands between the engine and an agent's command, so that a run that was killed leaves nobody at work behind it. It
is started as a file of its own and imports nothing of ours: `leash.py DESCRIPTOR COMMAND ...`, where the descriptor is
the reading end of a pipe whose writing end the engine holds.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

CAN_NOT_START = 127


def main(descriptor: int, command: list[str]) -> int:
    """The exit code of the command, which has our standard streams and is in our process group."""
    threading.Thread(target=_watch, args=(descriptor,), daemon=True).start()
    try:
        code = subprocess.call(command)
    except OSError as error:
        print(f"`{command[0]}` can't be started: {error.strerror or error}", file=sys.stderr)
        return CAN_NOT_START
    return code if code >= 0 else 128 - code


def _watch(descriptor: int) -> None:
    """Wait until the other end of the pipe is closed."""
    os.read(descriptor, 1)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
