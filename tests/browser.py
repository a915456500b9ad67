"""A real browser for tests: Chromium behind ChromeDriver, spoken to in the W3C's WebDriver protocol."""

import contextlib
import json
import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Generator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
PATIENCE = 300  # seconds for one command, also on a busy machine
FLAGS = (
    "--headless=new --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --force-prefers-reduced-motion"
)

OPEN_EVERY_KIND = """
const seen = new Set();
const name = (each) => `${each.localName}.${each.className}`;
const kind = (each) => `${name(each.parentElement)} ${name(each)}`;
for (const part of document.querySelectorAll("details")) {
  const own = [...part.querySelectorAll("*")].filter((each) => each.parentElement.closest("details") === part);
  if (own.map(kind).every((each) => seen.has(each))) continue;
  own.forEach((each) => seen.add(kind(each)));
  for (let at = part; at; at = at.parentElement.closest("details")) at.open = true;
}
"""  # as many parts as hold each kind of element once: opening all of them shows the same kinds more often


class Browser:
    """One window."""

    def __init__(self, address: str, session: str) -> None:
        self._address = f"{address}/session/{session}"

    def ask(self, method: str, path: str, **body: Any) -> Any:
        """One command of the protocol."""
        return command(method, f"{self._address}{path}", body)

    def show(self, address: str) -> None:
        """Reload an address: a page that is shown already would keep its focus and what was opened on it."""
        self.devtools("Emulation.setFocusEmulationEnabled", enabled=True)  # a key reaches the page at once
        for each in ("about:blank", address):
            self.ask("POST", "/url", url=each)
        # Under load the driver sometimes takes the end of the blank page for that of the address.
        self.wait_until("return location.href !== 'about:blank' && document.readyState === 'complete'")

    def resize(self, width: int, height: int = 900) -> None:
        """Show pages as wide and high as this."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", **size)

    def prefer(self, scheme: str) -> None:
        """Prefer `dark` or `light` pages."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.devtools("Emulation.setEmulatedMedia", features=features)

    def devtools(self, name: str, **params: Any) -> Any:
        """A command of Chromium's own protocol."""
        return self.ask("POST", "/goog/cdp/execute", cmd=name, params=params)

    def run(self, script: str, *args: Any) -> Any:
        """The value that a function body returns."""
        return self.ask("POST", "/execute/sync", script=script, args=list(args))

    def wait_for(self, script: str, *args: Any) -> Any:
        """The value of an asynchronous function body, which calls its last argument."""
        return self.ask("POST", "/execute/async", script=script, args=list(args))

    def wait_until(self, script: str) -> None:
        """Wait until a function body returns something true."""
        end = time.monotonic() + PATIENCE
        while not self.run(script):
            assert time.monotonic() < end, script
            time.sleep(0.05)

    def find(self, css: str) -> str:
        """The first element that a selector finds."""
        found: dict[str, str] = self.ask("POST", "/element", using="css selector", value=css)
        return found[ELEMENT]

    def press(self, *keys: str) -> None:
        """Press keys one after the other, wherever the focus is."""
        actions = [
            each for key in keys for each in ({"type": "keyDown", "value": key}, {"type": "keyUp", "value": key})
        ]
        self.ask("POST", "/actions", actions=[{"type": "key", "id": "keyboard", "actions": actions}])

    def name(self, css: str) -> tuple[str, str]:
        """What a screen reader calls an element: its role and its name."""
        element = self.find(css)
        role: str = self.ask("GET", f"/element/{element}/computedrole")
        label: str = self.ask("GET", f"/element/{element}/computedlabel")
        return role, label

    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        wider: int = self.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        return wider


def command(method: str, address: str, body: Any = None) -> Any:
    """One command; raises AssertionError with what the driver says."""
    data = None if method == "GET" else json.dumps(body or {}).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        raise AssertionError(json.load(error)["value"]["message"]) from None


def violations(browser: Browser) -> list[Any]:
    """What axe-core finds, with every kind of element opened."""
    browser.run(OPEN_EVERY_KIND)
    browser.devtools(
        "Runtime.evaluate", expression=files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    )
    found = browser.wait_for(
        "const done = arguments[0]; axe.run().then((r) => done(r.violations), (e) => done([e.message]))"
    )
    return [
        (each["id"], [node["html"] for node in each["nodes"][:3]]) if isinstance(each, dict) else each for each in found
    ]


@contextlib.contextmanager
def open_browser(profile: Path) -> Generator[Browser]:
    """A browser with an empty profile; skips the test where there is none."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no browser is installed (chromium and chromedriver)")
    log = profile / "driver.log"
    profile.mkdir(parents=True, exist_ok=True)
    start, short = [driver, "--port=0", f"--log-path={log}"], {**os.environ, "TMPDIR": "/tmp"}  # a socket's path is
    with subprocess.Popen(start, env=short, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = f"http://127.0.0.1:{_port(process)}"
            flags = [*FLAGS.split(), f"--user-data-dir={profile / 'user'}"]
            flags += ["--no-sandbox"] if os.geteuid() == 0 else []  # a browser refuses its sandbox to root
            options = {"binary": chromium, "args": flags}
            wanted = {
                "capabilities": {
                    "alwaysMatch": {"goog:chromeOptions": options, "timeouts": {"script": PATIENCE * 1000}}
                }
            }
            session = command("POST", f"{address}/session", wanted)["sessionId"]
            try:
                yield Browser(address, session)
            finally:  # a browser without its driver goes on for ever
                command("DELETE", f"{address}/session/{session}")
        finally:
            process.terminate()


def _port(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        line = process.stdout.readline()
        if "started successfully on port" in line:
            return int(line.rstrip(".\n").rsplit(" ", 1)[1])
    raise AssertionError("the driver did not start")
