"""Run a task with a question in the middle: clients of other SDKs on our server, and our client on another's.

The Python SDK 1.x has tasks of 2025-11-25, fastmcp those of the extension.
Exit codes: 0 everything works, 1 something does not, 3 could not run, 4 a server did not start, 130
interrupted.
"""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from assay import Client, ClientError
from interop.child_process import child, http_server, lines_until_end
from interop.clients import ON_HTTP, REFERENCE, ROOT
from interop.exit_code import exit_code
from interop.official import Aborted, Exit, tail
from interop.peer import PROGRAMS, pinned_version

ENVIRONMENTS = ROOT / ".venv-peers"
TIMEOUT = 60.0
EXPECTED = ["asked: Who are you?", "result: Ada likes green"]


def program(folder: str, script: str) -> tuple[str, str]:
    """
    Raises:
        Aborted: the environment is not installed.
    """
    python = ENVIRONMENTS / folder / "bin" / "python"
    if not python.exists():
        raise Aborted(Exit.COULD_NOT_RUN, f"{python} is missing: run `make interop-tasks`")
    return str(python), str(PROGRAMS / folder / script)


async def their_client(folder: str, script: str, logs: Path) -> str | None:
    """What went wrong when a client ran the task on our server; None if nothing did."""
    log = logs / f"{folder}.log"
    async with (
        http_server((*REFERENCE, *ON_HTTP), logs / "reference.log") as url,
        child((*program(folder, script), url), log) as process,
    ):
        lines, failure = await lines_until_end(process, TIMEOUT)
    printed = [line.rstrip() for line in lines]
    if printed == ["task: True", *EXPECTED]:
        return None
    return f"{failure or printed}\n{tail(log)}"


async def our_client(logs: Path) -> str | None:
    """What went wrong when our client ran the task on a server of fastmcp."""
    asked: list[str] = []

    def answer(question: object) -> dict[str, str]:
        asked.append(getattr(question, "message", ""))
        return {"name": "Ada"}

    async with (
        http_server(program("fastmcp-tasks", "server.py"), logs / "server.log") as url,
        Client(url, elicitation=answer) as client,
    ):
        task = await client.call_task("ask")
        text = (await task).text
    if task.id and (asked, text) == (["What is your name?"], "accept: Ada"):
        return None
    return f"task {task.id!r}, asked {asked}, result {text!r}"


async def run() -> Exit:
    sdk = pinned_version(PROGRAMS / "python-sdk-1", "mcp")
    fastmcp = pinned_version(PROGRAMS / "fastmcp-tasks", "fastmcp-tasks")
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder)
        rows: dict[str, Callable[[], Awaitable[str | None]]] = {
            f"Python SDK {sdk} client, 2025-11-25, on our server": lambda: their_client(
                "python-sdk-1", "task_client.py", logs
            ),
            f"fastmcp {fastmcp} client, extension, on our server": lambda: their_client(
                "fastmcp-tasks", "client.py", logs
            ),
            f"our client on a server of fastmcp {fastmcp}": lambda: our_client(logs),
        }
        failures = 0
        for title, row in rows.items():
            try:
                problem = await row()
            except ClientError as error:
                problem = str(error)
            failures += problem is not None
            print(f"{'ok  ' if problem is None else 'FAIL'}  {title}", flush=True)
            if problem is not None:
                print(problem, file=sys.stderr)
    return Exit.DOES_NOT_CONFORM if failures else Exit.CONFORMS


if __name__ == "__main__":
    sys.exit(exit_code(lambda: asyncio.run(run())))
