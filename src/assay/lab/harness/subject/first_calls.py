"""The first calls of the tools: which arguments work, and how long each tool takes.

This is done once for a subject. Every scenario then calls tools with arguments that worked, and does not call
those again that are slow. Of what a result contains, such as an id, later calls make use.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from assay.lab.harness.driver.argument import candidates
from assay.lab.harness.driver.cancellation import cancel
from assay.lab.harness.driver.known_values import KnownValues
from assay.lab.harness.driver.message_meta import LOG_LEVEL_KEY, param_headers
from assay.lab.harness.driver.peer import Peer, Pending, Reply
from assay.lab.harness.driver.plausible import seems_to_change, seems_to_remove
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.links.broken_off import BrokenOff
from assay.lab.harness.trace.json_schema import value_problem
from assay.lab.harness.trace.message import LEVELS

from .facts import Facts, Permission, ToolCalls, permission_for

FIRST_CALLS: Final = "first-calls"
"""Scenario name in the traces of these calls."""
NO_TIME: Final = "not tried: other tools took too long"
MOST_TOOLS: Final = 100
ATTEMPTS: Final = 3
"""Sets of arguments that are tried in each of two rounds."""
BUDGET: Final = 12
"""Times the patience: when this is used up, no further tool is tried."""
LONGEST_ERROR: Final = 300
ERROR_TEXT: Final = re.compile(r"\W*(?:[a-z]+ )?(?:error|exception|traceback)\b[^\n]{0,300}\Z", re.IGNORECASE)
"""How the whole text of a result begins that is an error, although it does not say so."""
Arguments = dict[str, Any]


async def make_first_calls(stage: Stage) -> Facts:
    """Call each tool of the stage's facts that may be called, and note there what it took."""
    await FirstCalls(stage).run()
    return stage.facts


def provided(arguments: Mapping[str, Sequence[Arguments]]) -> dict[str, ToolCalls]:
    """What is known before any call: the arguments that the user provides."""
    return {name: ToolCalls([dict(each) for each in sets]) for name, sets in arguments.items() if sets}


class FirstCalls:
    """Writes what it learns into the facts, so that it is known even if a call breaks off."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._facts: Facts = stage.facts
        self._calls = self._facts.calls
        self._known = KnownValues()
        self._tried: dict[str, list[Arguments]] = {}
        self._peer: Peer | None = None
        self._end = time.monotonic() + BUDGET * stage.patience

    async def run(self) -> None:
        self._learn_lists()
        tools = self._facts.permitted_tools[:MOST_TOOLS]
        # A tool without required arguments most likely works, and what it returns may fit the others.
        # Tools that destroy come last: they would remove what the others need.
        tools.sort(key=lambda tool: (_destroys(tool), len(candidates(tool)[0])))
        for tool in tools:
            await self._try(tool)
        if not all(self._facts.calls_of(tool).works for tool in tools):
            await self._read_again(tools)
        for tool in tools:
            await self._try(tool)

    async def _read_again(self, tools: list[dict[str, Any]]) -> None:
        """Call lists again, and try what failed first again: other tools may have added what was missing.

        A tool that reports progress works for a while, and hardly lists what others added."""
        for tried in self._tried.values():
            del tried[:1]
        for tool in tools:
            calls = self._facts.calls_of(tool)
            lists = calls.works and not calls.slow and not calls.progress and calls.arguments == [{}]
            if lists and not seems_to_change(tool):
                await self._call(tool, {})

    def _learn_lists(self) -> None:
        for resource in self._facts.resources[:MOST_TOOLS]:
            self._known.add("uri", resource.get("uri"))
            self._known.add("resource name", resource.get("name"))

    async def _try(self, tool: dict[str, Any]) -> None:
        """Call a tool until it succeeds, with arguments that have not been tried."""
        name = tool["name"]
        before = self._calls.get(name, ToolCalls())
        if before.works or before.slow:
            return
        if time.monotonic() > self._end:
            if name not in self._tried:
                self._calls[name] = ToolCalls(before.arguments, slow=True, error=NO_TIME)
            return
        own = before.arguments
        tried = self._tried.setdefault(name, [])
        new = [each for each in own if each not in tried]
        guesses = [] if new else [each for each in self._guessed(tool) if each not in tried]
        calls = await self._try_sets(tool, new or guesses[:ATTEMPTS], every=bool(new))
        if calls is not None:
            calls.arguments = calls.arguments or own
            self._calls[name] = calls

    def _guessed(self, tool: dict[str, Any]) -> list[Arguments]:
        """Guesses that fit the schema of the tool, or all if none does: a schema may be at fault."""
        guesses = candidates(tool, self._known)
        return [each for each in guesses if value_problem(each, tool.get("inputSchema")) is None] or guesses

    async def _try_sets(
        self, tool: dict[str, Any], sets: list[Arguments], *, every: bool
    ) -> ToolCalls | None:
        """Try sets of arguments: every set that the user provides, and guesses until one works."""
        working: list[Arguments] = []
        calls: ToolCalls | None = None
        for arguments in sets:
            self._tried[tool["name"]].append(arguments)
            latest = await self._call(tool, arguments)
            working += [arguments] if latest.works else []
            calls = latest if calls is None or latest.works or not calls.works else calls
            if latest.slow or (working and not every):
                break
        if calls is not None:
            calls.arguments = working
        return calls

    async def _call(self, tool: dict[str, Any], arguments: Arguments) -> ToolCalls:
        try:
            peer = await self._open()
            begin = time.monotonic()
            pending = await self._start(peer, tool, arguments)
            allowed = await peer.wait_answered(pending)
            if not pending.over.done():
                return await self._give_up(peer, pending, allowed)
            reply = await peer.answer(pending)
        except BrokenOff as broken:
            self._peer = None
            return ToolCalls(error=_line(str(broken)))
        seconds = round(time.monotonic() - begin, 3)
        error = error_of(reply)
        if not error:
            self._known.learn(reply.result, tool["name"], arguments)
        slow = seconds > self._stage.patience
        return ToolCalls(
            works=not error,
            seconds=seconds,
            slow=slow,
            progress=pending.progress > 0,
            logs=pending.logs > 0,
            error=error,
        )

    async def _open(self) -> Peer:
        if self._peer is None or self._peer.broken is not None or self._peer.closed:
            self._peer = await self._stage.open(sampling={}, elicitation={}, roots={})
        return self._peer

    async def _start(self, peer: Peer, tool: dict[str, Any], arguments: Arguments) -> Pending:
        # A tool that reports progress gets more time.
        meta = {"progressToken": f"first-call-{peer.next_id()}"}
        if peer.revision.logs_on_demand:
            meta[LOG_LEVEL_KEY] = LEVELS[0]
        params = {"name": tool["name"], "arguments": arguments, "_meta": meta}
        headers = param_headers(tool, arguments) if peer.revision.http.mirrored else {}
        return await peer.start("tools/call", params, headers=headers)

    async def _give_up(self, peer: Peer, pending: Pending, seconds: float) -> ToolCalls:
        """Cancel the call, and leave the connection: a server that is busy may answer nothing else on it."""
        with suppress(BrokenOff):
            await cancel(peer, pending, "no answer in time")
        self._peer = None
        await peer.close()
        return ToolCalls(seconds=seconds, slow=True, error=f"no answer within {seconds:g} s")


def _destroys(tool: dict[str, Any]) -> bool:
    """By its own words, or by its name."""
    return permission_for(tool) is Permission.DESTRUCTIVE or seems_to_remove(tool)


def error_of(reply: Reply) -> str:
    """What the server says about a call that did not succeed; empty if it did."""
    if not reply.is_result:
        error = reply.message.fields.get("error") if reply.message is not None else None
        text = error.get("message") if isinstance(error, dict) else None
        return _line(text) or (f"error {reply.code}" if reply.message else f"HTTP status {reply.status}")
    content = reply.result.get("content")
    blocks = content if isinstance(content, list) else []
    texts = [str(block["text"]) for block in blocks if isinstance(block, dict) and "text" in block]
    text = _line(" ".join(texts))
    if not reply.result.get("isError"):
        # Many servers report errors as ordinary text.
        is_error = "structuredContent" not in reply.result and ERROR_TEXT.match(text)
        return f"{text} (without `isError`)" if is_error else ""
    return text or "a result with `isError` and no text"


def _line(text: Any) -> str:
    flat = " ".join(text.split()) if isinstance(text, str) else ""
    return flat if len(flat) <= LONGEST_ERROR else f"{flat[:LONGEST_ERROR]} …"
