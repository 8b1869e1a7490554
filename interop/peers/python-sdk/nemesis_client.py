"""The official Python SDK's client, for the kill test: `nemesis_client.py URL SEED SECONDS COUNT`.

It imports nothing of the package. The history is written to standard output at the end.
"""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from pathlib import Path
from time import monotonic
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from httpx2 import HTTPError
from mcp import Client, MCPDeprecationWarning, MCPError

from bench.nemesis.history import Recorder
from bench.nemesis.workload import MIX, run_calls

warnings.simplefilter("ignore", MCPDeprecationWarning)
TIMEOUT = 30.0


class OfficialCaller:
    def __init__(self, url: str, recorder: Recorder) -> None:
        self._recorder = recorder
        self.client = Client(url, mode="legacy", logging_callback=self._on_log, read_timeout_seconds=TIMEOUT)

    async def _on_log(self, params: Any) -> None:
        self._recorder.note("event", call=params.data["call"], number=params.data["number"])

    async def call(self, tool: str, arguments: dict[str, object]) -> tuple[str, bool, str]:
        try:
            result = await self.client.call_tool(tool, arguments)
        except MCPError as error:
            # -32000 and 408 are the SDK's own: the connection was lost, or the time was up.
            return "error", error.error.code not in (-32000, -32001, 408), str(error)
        if result.is_error:
            return "error", True, str(result.content)
        return "ok", True, result.content[0].text


async def main(url: str, seed: int, seconds: float, count: int) -> None:
    recorders = [Recorder(f"official-{number}") for number in range(count)]
    end = monotonic() + seconds

    async def one(recorder: Recorder) -> None:
        while monotonic() < end:
            caller = OfficialCaller(url, recorder)
            try:
                async with caller.client:
                    await run_calls(
                        caller,
                        recorder,
                        seed=seed,
                        tools=MIX,
                        going=lambda: monotonic() < end,
                        pause=asyncio.sleep,
                    )
            except* (HTTPError, MCPError) as broken:
                # Its transport ends with the first response that is cut off before its head.
                recorder.note("broke", text=repr(broken.exceptions[0]))

    await asyncio.gather(*map(one, recorders))
    for recorder in recorders:
        for entry in recorder.entries:
            print(json.dumps(entry))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])))
