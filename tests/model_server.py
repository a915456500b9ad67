"""A real HTTP server on this machine that answers as endpoints do, and as they do on a bad day."""

import json
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Response:
    """What the server does with one request."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    declared: int | None = None  # Content-Length, where it is not the truth
    delay: float = 0.0  # seconds before anything is sent
    hangs: bool = False  # until the server is closed
    trickle: float = 0.0  # seconds between two bytes


Handler = Callable[[dict[str, Any], int], Response]  # the request's body and its number from 0


def chat(text: str | None, *, finish: str = "stop", model: str = "served-1", **message: Any) -> Response:
    """A chat completion that says `text`."""
    body = {
        "id": "x",
        "object": "chat.completion",
        "model": model,
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7},
    }
    return Response(body=json.dumps(body).encode())


def messages(text: str, *, stop: str = "end_turn", model: str = "claude-served") -> Response:
    """A reply of the Messages API that says `text`."""
    body = {
        "type": "message",
        "role": "assistant",
        "model": model,
        "stop_reason": stop,
        "content": [{"type": "thinking", "thinking": "..."}, {"type": "text", "text": text}],
        "usage": {"input_tokens": 11, "output_tokens": 7, "cache_read_input_tokens": 3},
    }
    return Response(body=json.dumps(body).encode())


@dataclass
class Server:
    """A running server: where it listens, and what it was asked."""

    base: str
    requests: list[dict[str, Any]]
    headers: list[dict[str, str]]
    in_flight_at_most: int = 0


@contextmanager
def model_server(handler: Handler) -> Generator[Server]:
    """A server that answers every request by `handler`, as long as the block runs."""
    closing = threading.Event()
    lock = threading.Lock()
    in_flight = 0

    class Requests(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # which waits for the client between the head and the body

        def do_POST(self) -> None:
            nonlocal in_flight
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                number = len(server.requests)
                server.requests.append({"path": self.path, **asked})
                server.headers.append({key.lower(): value for key, value in self.headers.items()})
                in_flight += 1
                server.in_flight_at_most = max(server.in_flight_at_most, in_flight)
            try:
                response = handler(asked, number)
                closing.wait(60) if response.hangs else time.sleep(response.delay)
            finally:
                with lock:  # before the client can ask again
                    in_flight -= 1
            if response.hangs:
                self.close_connection = True
                return
            try:
                self._send(response)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _send(self, response: Response) -> None:
            self.send_response(response.status)
            headers = {"Content-Type": "application/json", **response.headers}
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header(
                "Content-Length", str(len(response.body) if response.declared is None else response.declared)
            )
            self.end_headers()
            if response.trickle:
                for byte in response.body:
                    self.wfile.write(bytes([byte]))
                    if closing.wait(response.trickle):
                        break
            else:
                self.wfile.write(response.body)
            if response.declared is not None:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """The test's output stays clean."""

    class Threads(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

    with Threads(("127.0.0.1", 0), Requests) as http:
        server = Server(f"http://127.0.0.1:{http.server_port}/v1", [], [])
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            closing.set()
            http.shutdown()
            thread.join()
