"""A headless Chromium, driven over its DevTools protocol: real clicks, keys and layout."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 20.0
# Root may not use the sandbox; and nothing here has business with the network.
SWITCHES = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"),
    *("--hide-scrollbars", "--font-render-hinting=none", "--remote-debugging-port=0"),
    # Scripts of a frame are then in the same target as its page.
    "--disable-features=IsolateSandboxedIframes",
)
ANNOUNCED = "DevTools listening on "
# Runs in the page: whether something holds, asked again after each frame until it does.
UNTIL = """new Promise((resolve, reject) => {
  const end = performance.now() + %d;
  const look = () => {
    if (%s) resolve(true);
    else if (performance.now() > end) reject(new Error('it never held: ' + %s));
    else requestAnimationFrame(look);
  };
  look();
})"""


class PageError(AssertionError):
    """A script in the page failed, or what was waited for did not come."""


def program() -> str:
    for name in PROGRAMS:
        if found := shutil.which(name):
            return found
    raise FileNotFoundError("no Chromium here: sudo apt-get install chromium")


class Browser:
    """One process; every page is a tab of its own."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = count(1)
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        self._socket.send(json.dumps(message | ({"sessionId": session} if session else {})))
        while True:
            reply: dict[str, Any] = json.loads(self._socket.recv(timeout=PATIENCE))
            if reply.get("id") != number:
                self.events.append(reply)
            elif "error" in reply:
                raise PageError(f"{method}: {reply['error']}")
            else:
                result: dict[str, Any] = reply["result"]
                return result

    @contextmanager
    def page(self, path: Path, hash: str = "", *, width: int = 1440, height: int = 900) -> Iterator[Page]:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        try:
            page.begin(width, height)
            page.open(path, hash)
            yield page
        finally:
            self.call("Target.closeTarget", targetId=target)


class Page:
    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **params)

    def begin(self, width: int, height: int) -> None:
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.size(width, height)

    def size(self, width: int, height: int, scale: float = 1) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=False,
        )

    def open(self, path: Path, hash: str = "") -> None:
        self.call("Page.navigate", url=f"{path.as_uri()}{hash}")
        self.until("document.readyState === 'complete' && location.protocol === 'file:'")

    def media(self, *, kind: str = "", scheme: str = "light") -> None:
        self.call(
            "Emulation.setEmulatedMedia",
            media=kind,
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def value(self, expression: str, **context: Any) -> Any:
        """What a script gives, as JSON."""
        answer = self.call(
            "Runtime.evaluate",
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
            **context,
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise PageError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def until(self, condition: str) -> None:
        self.value(UNTIL % (PATIENCE / 2 * 1000, condition, json.dumps(condition)))

    def frame_value(self, expression: str) -> Any:
        """What a script gives in the last document of the only frame of the page."""
        main = self.call("Page.getFrameTree")["frameTree"]["frame"]["id"]
        contexts = [
            event["params"]["context"]
            for event in self._browser.events
            if event["method"] == "Runtime.executionContextCreated" and event["sessionId"] == self._session
        ]
        inner = [context["id"] for context in contexts if context["auxData"]["frameId"] != main]
        return self.value(expression, contextId=inner[-1])

    def frame_until(self, condition: str) -> None:
        self.frame_value(UNTIL % (PATIENCE / 2 * 1000, condition, json.dumps(condition)))

    def text(self, selector: str) -> str:
        return str(self.value(f"document.querySelector({json.dumps(selector)}).innerText"))

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.value(
            f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.innerText)"
        )
        return found

    def count(self, selector: str = "*") -> int:
        return int(self.value(f"document.querySelectorAll({json.dumps(selector)}).length"))

    def click(self, selector: str) -> None:
        """Press the mouse in the middle of the first element that fits, wherever it is on the page."""
        place = self.value(
            f"""(() => {{
              const element = document.querySelector({json.dumps(selector)});
              element.scrollIntoView({{block: 'center', behavior: 'instant'}});
              const box = element.getBoundingClientRect();
              return [box.x + box.width / 2, box.y + box.height / 2];
            }})()"""
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1
            )

    def press(self, key: str, code: int = 0, text: str = "") -> None:
        for kind in ("keyDown", "keyUp"):
            spoken = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **spoken)

    def write(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def picture(self, path: Path) -> None:
        shot = self.call("Page.captureScreenshot", format="png", optimizeForSpeed=False)
        path.write_bytes(base64.b64decode(shot["data"]))

    def paper(self) -> bytes:
        """The page as PDF."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    @property
    def complaints(self) -> list[str]:
        """Whatever the console shows, every script that failed, and every request beyond the file itself."""
        self.value("1")  # events come in order: all of before are here after this
        mine = [one for one in self._browser.events if one.get("sessionId") == self._session]
        return [said for one in mine if (said := _complaint(one["method"], one["params"]))]


def _complaint(method: str, params: dict[str, Any]) -> str:
    match method:
        case "Log.entryAdded":
            return f"{params['entry']['level']}: {params['entry']['text']}"
        case "Runtime.consoleAPICalled":
            return f"console: {params['args']}"
        case "Runtime.exceptionThrown":
            return f"exception: {params['exceptionDetails']}"
        case "Network.requestWillBeSent" if not params["request"]["url"].startswith(("file:", "about:")):
            return f"request: {params['request']['url']}"
    return ""


@contextmanager
def chromium() -> Iterator[Browser]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [program(), *SWITCHES, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        try:
            with connect(_address(process), max_size=None, compression=None) as socket:
                yield Browser(socket)
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE)


def _address(process: subprocess.Popen[str]) -> str:
    """Where the browser listens: it says so itself, on whatever port it was given."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        if line.startswith(ANNOUNCED):
            return line.removeprefix(ANNOUNCED).strip()
        said.append(line)
    raise PageError(f"Chromium did not start:\n{''.join(said[-10:])}")


if __name__ == "__main__":
    try:
        program()
    except FileNotFoundError as missing:
        sys.exit(str(missing))
