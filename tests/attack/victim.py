"""A run in a process of its own, so that it can be killed: `victim.py DATA OUT PAID`.

Its judge costs something: every answer is a line in the file PAID before it is given.
"""

import os
import sys
import time

from tests.runtime.plans import asked, check, plan, reply

from rulewright_runtime.judging.judge import JudgeRequest
from rulewright_runtime.runs import store

PLAN = plan(check(), asked(name="X2", repetitions=3), asked(name="X3"))


class Paid:
    """Answers slowly and from the words alone."""

    identity = "paid/1"

    def __init__(self, bill: str) -> None:
        self._bill = os.open(bill, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def ask(self, request: JudgeRequest) -> str:
        """PASS."""
        asked = f"{request.transcript_id} {request.check_id} {request.repetition} {request.attempt}\n"
        time.sleep(0.001)
        os.write(self._bill, asked.encode())
        return reply("PASS")


if __name__ == "__main__":
    data, out, bill = sys.argv[1:]
    store.LOST_SECONDS = 0.005  # type: ignore[misc]
    store.run(PLAN, [data], out, judge=Paid(bill), resume=True)
