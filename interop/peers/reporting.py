"""How a Python client program tells what it saw: one JSON line for each feature, on standard output.

`ok` is null when the SDK or the transport has no such feature; `detail` then says why. The program ends with
code 0 whatever the lines say: judging them is the work of `interop/clients.py`.
"""

import asyncio
import json
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

# A step takes well under 3 seconds; the slowest waits for a reconnection.
STEP_TIMEOUT = 20.0
# How long nothing must arrive before a client believes that nothing will.
SILENCE = 0.5
# The revision whose requests describe themselves; the others begin with a handshake.
PER_REQUEST = "2026-07-28"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"


class NoApi(Exception):
    """This SDK offers no way to do it, or the transport gives it no meaning."""


@dataclass(frozen=True)
class Targets:
    """Where the servers are: a command on stdio, a URL on HTTP. `relayed` is the fixture behind the relay.
    `revision` is the one to negotiate."""

    transport: str
    revision: str
    everything: list[str] | str
    fixture: list[str] | str
    reference: list[str] | str
    relayed: list[str] | str | None

    @classmethod
    def from_arguments(cls) -> "Targets":
        return cls(**json.loads(sys.argv[1]))

    @property
    def mode(self) -> str:
        """How a client of the Python SDK comes to the revision: by a handshake, or asking for the newest."""
        return "auto" if self.revision == PER_REQUEST else "legacy"

    def demand_sessions(self) -> None:
        """
        Raises:
            NoApi: the revision has no session, so there is nothing to return to or to delete.
        """
        if self.revision == PER_REQUEST:
            raise NoApi(f"revision {PER_REQUEST} has no sessions and no streams to return to")


Step = Callable[[], Awaitable[str]]


def expect(actual: object, expected: object, what: str) -> None:
    if actual != expected:
        raise AssertionError(f"{what}: expected {expected!r}, got {actual!r}")


async def run_steps(steps: Mapping[str, Step]) -> None:
    """Run every step in order. One that fails does not keep the next from running."""
    for feature, step in steps.items():
        ok: bool | None = False
        try:
            async with asyncio.timeout(STEP_TIMEOUT):
                detail = await step()
            ok = True
        except NoApi as missing:
            ok, detail = None, str(missing)
        except Exception as error:
            traceback.print_exc()
            detail = f"{type(error).__name__}: {root_cause(error)}"
        print(json.dumps({"feature": feature, "ok": ok, "detail": detail}), flush=True)


def root_cause(error: BaseException) -> str:
    """Look into exception groups, whose own text says nothing."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__


def text_of(blocks: Sequence[object]) -> str:
    """The text of the only block; a block of another kind shows itself."""
    return "|".join(str(getattr(block, "text", block)) for block in blocks)


async def expect_silence(inbox: asyncio.Queue[str]) -> None:
    """Wait a while and see that nothing comes. There is no event that says "nothing will"."""
    try:
        async with asyncio.timeout(SILENCE):
            unwanted = await inbox.get()
    except TimeoutError:
        return
    raise AssertionError(f"expected nothing more, got {unwanted!r}")
