"""The report of a Python client program: one JSON line per feature on standard output.

`ok` is null if the SDK or the transport lacks the feature; `detail` then says why. The program exits with
code 0 in any case: `interop/clients.py` judges the lines.
"""

import asyncio
import json
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

# A step takes less than 3 seconds; the slowest waits for a reconnection.
STEP_TIMEOUT = 20.0
# Seconds without a message before a client assumes that none will come.
SILENCE = 0.5
# The revision without a handshake.
PER_REQUEST = "2026-07-28"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"


class NoApi(Exception):
    """The SDK or the transport does not support it."""


@dataclass(frozen=True)
class Targets:
    """The servers: a command on stdio, a URL on HTTP. `relayed` is the fixture behind the relay, `revision`
    the one to negotiate."""

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
        """The mode of the Python SDK's client that negotiates the revision."""
        return "auto" if self.revision == PER_REQUEST else "legacy"

    def demand_sessions(self) -> None:
        """
        Raises:
            NoApi: the revision has no sessions to resume or delete.
        """
        if self.revision == PER_REQUEST:
            raise NoApi(f"revision {PER_REQUEST} has no sessions and no streams to return to")


Step = Callable[[], Awaitable[str]]


def expect(actual: object, expected: object, label: str) -> None:
    if actual != expected:
        raise AssertionError(f"{label}: expected {expected!r}, got {actual!r}")


async def run_steps(steps: Mapping[str, Step]) -> None:
    """Run every step in order; a failure does not stop the others."""
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
    """The first exception of a group, whose own text is not helpful."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__


def text_of(blocks: Sequence[object]) -> str:
    """The text of the blocks; other blocks are shown by their repr."""
    return "|".join(str(getattr(block, "text", block)) for block in blocks)


async def expect_silence(inbox: asyncio.Queue[str]) -> None:
    """Assert that nothing arrives for a while; no event announces silence."""
    try:
        async with asyncio.timeout(SILENCE):
            unwanted = await inbox.get()
    except TimeoutError:
        return
    raise AssertionError(f"expected nothing more, got {unwanted!r}")
