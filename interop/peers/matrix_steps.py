"""What the Python clients of `assay matrix` share: their input, and a line of JSON for every step.

The contract is in `docs/matrix.md`: the address is the last argument (a URL, or the command line of a stdio
server), the revision and the steps are in the environment. Exit codes: 0 done, 1 could not connect, 127 the
SDK does not support it.
"""

import asyncio
import json
import os
import shlex
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

# Generous: on a busy machine some servers need as long to start.
STEP_TIMEOUT = 45.0
NOT_SUPPORTED = 127

Act = Callable[..., Awaitable[object]]
Acts = Mapping[str, Act]


class NoApi(Exception):
    """The SDK cannot do this step."""


class Unsupported(Exception):
    """The SDK has no such revision or transport."""


@dataclass(frozen=True)
class Task:
    url: str
    command: list[str]
    """Of a stdio server; empty on HTTP."""
    revision: str
    steps: list[dict[str, Any]]

    @classmethod
    def from_process(cls) -> "Task":
        address = sys.argv[-1]
        is_url = "://" in address.partition(" ")[0]
        context = json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])
        return cls(
            url=address if is_url else "",
            command=[] if is_url else shlex.split(address),
            revision=os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"],
            steps=context["steps"],
        )


async def play(steps: list[dict[str, Any]], acts: Acts) -> None:
    """Take every step; a failure does not stop the others."""
    for number, step in enumerate(steps):
        ok: bool | None = False
        detail = ""
        arguments = {key: value for key, value in step.items() if key != "do"}
        try:
            if step["do"] not in acts:
                raise NoApi(f"no API for {step['do']}")
            async with asyncio.timeout(STEP_TIMEOUT):
                await acts[step["do"]](**arguments)
            ok = True
        except NoApi as missing:
            ok, detail = None, str(missing)
        except Exception as error:
            detail = cause_of(error)
        print(json.dumps({"step": number, "ok": ok, "detail": detail}), flush=True)


def cause_of(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(f"{type(error).__name__}: {error}".split())


def main(connect: Callable[[Task], AbstractAsyncContextManager[Acts]]) -> int:
    """`connect` yields the steps that the SDK can take, by name."""

    async def run() -> None:
        task = Task.from_process()
        async with connect(task) as acts:
            await play(task.steps, acts)

    try:
        asyncio.run(run())
    except Unsupported as missing:
        print(missing, file=sys.stderr)
        return NOT_SUPPORTED
    except Exception as error:
        traceback.print_exc()
        print(cause_of(error), file=sys.stderr)
        return 1
    return 0
