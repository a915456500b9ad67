"""640 judge calls of 500 ms, 64 in flight: the scheduler with its ledger, beside a bare httpx2 loop over the same.

Prints the time against the ideal (5 s), and processor time against the bare loop's, of this process alone: the server
is another one. The bars are 1.15 and 1.5.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import anyio
import httpx2

from rulewright_runtime.calls.ledger import Ledger
from rulewright_runtime.calls.scheduler import CallLimits, Scheduler
from rulewright_runtime.models.call import CallRequest, ChatMessage, ModelCall
from rulewright_runtime.models.http import HttpModel

CALLS: Final = 640
IN_FLIGHT: Final = 64
SECONDS: Final = 0.5
WALL, PROCESSOR = 1.15, 1.5  # the bars
IDEAL: Final = CALLS * SECONDS / IN_FLIGHT
PROMPT: Final = "Did the assistant ask? " * 100
REPLY: Final = json.dumps(
    {
        "model": "m",
        "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": '{"verdict": "PASS"}'}}],
        "usage": {"prompt_tokens": 500, "completion_tokens": 7},
    }
).encode()


async def serve() -> None:
    """A server that answers every request after half a second; it prints its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(
                    int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
                )
                await reader.readexactly(length)
                await asyncio.sleep(SECONDS)
                told = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(REPLY)
                writer.write(told + REPLY)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def scheduled(base: str, folder: Path) -> None:
    """Every call through the scheduler and a new ledger."""
    ledger = Ledger(folder / "ledger.sqlite3")
    model = HttpModel("openai", "m", base, None)
    async with (
        Scheduler(model, ledger, "run", CallLimits(concurrency=IN_FLIGHT)).running() as scheduler,
        anyio.create_task_group() as group,
    ):
        for number in range(CALLS):
            call = ModelCall((ChatMessage("user", f"{PROMPT}{number}"),), 500, 0.0)
            group.start_soon(scheduler.ask, CallRequest(call, f"t{number}", "c"))
    ledger.close()


async def bare(base: str, _: Path) -> None:
    """Every call with httpx2 and a semaphore, its reply parsed."""
    slots = asyncio.Semaphore(IN_FLIGHT)
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx2.AsyncClient(timeout=30, limits=limits) as client:

        async def one(number: int) -> None:
            messages = [{"role": "user", "content": f"{PROMPT}{number}"}]
            async with slots:
                body = {"model": "m", "messages": messages, "max_tokens": 500, "temperature": 0.0}
                json.loads((await client.post(f"{base}/chat/completions", json=body)).content)

        await asyncio.gather(*map(one, range(CALLS)))


def measured(way: Callable[[str, Path], Awaitable[None]], base: str) -> tuple[float, float]:
    """Seconds by the clock and of processor time."""
    with tempfile.TemporaryDirectory() as folder:
        started, worked = time.perf_counter(), time.process_time()
        anyio.run(way, base, Path(folder))
        return time.perf_counter() - started, time.process_time() - worked


def main() -> int:
    """Measure, print, and answer 0 when both bars are met."""
    server = subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        base = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        plain, ours = measured(bare, base), measured(scheduled, base)
    finally:
        server.kill()
        server.wait()
    print(f"bare httpx2   {plain[0]:6.2f} s  {plain[0] / IDEAL:5.2f} of ideal  {plain[1]:5.2f} s of processor")
    print(f"scheduler     {ours[0]:6.2f} s  {ours[0] / IDEAL:5.2f} of ideal  {ours[1]:5.2f} s of processor")
    print(f"processor time: {ours[1] / plain[1]:.2f} times the bare loop (at most {PROCESSOR}; of ideal {WALL})")
    return 0 if ours[0] / IDEAL <= WALL and ours[1] / plain[1] <= PROCESSOR else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(serve()) if sys.argv[1:] == ["serve"] else main())
