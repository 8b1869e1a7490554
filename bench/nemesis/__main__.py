"""Kill workers while clients call them, and check what the clients saw: `python -m bench.nemesis [options]`.

50 clients (ours, and the official SDK's where `make .venv-peers/python-sdk/.ready` was run) keep sessions and
streams on 4 workers, while each second a random worker gets SIGKILL. Then 50 rounds of "kill mid-stream,
resume elsewhere". The history of a run that breaks a rule is kept and shown.

Exit codes: 0 no rule was broken, 1 one was, 2 nothing was proved: too few kills or resumed streams.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from time import monotonic
from typing import Any, Final

from bench.table import as_markdown

from .assay_client import AssayCaller
from .checker import Violation, check, errors_by_text, summary
from .cluster import Cluster, cluster
from .history import Entry, Recorder, of_call, read, write
from .redis_server import redis_server
from .workload import MIX, one_call, run_calls

ROOT: Final = Path(__file__).parents[2]
PEER: Final = ROOT / ".venv-peers" / "python-sdk" / "bin" / "python"
OFFICIAL: Final = ROOT / "interop" / "peers" / "python-sdk" / "nemesis_client.py"
KEPT: Final = ROOT / "results" / "nemesis"
AT_ONCE: Final = 10
"""Rounds that run at the same time."""
KILL_AT: Final = 3
"""The event of a round at which the worker that sends it is killed."""
SHOWN: Final = 5
"""Broken calls whose history is shown."""


def read_options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n")[0], prog="python -m bench.nemesis"
    )
    add = parser.add_argument
    add("--store", choices=("sqlite", "redis"), action="append", help="default: both")
    add("--seconds", type=float, default=60.0, help="how long workers are killed; default: 60")
    add("--interval", type=float, default=1.0, help="seconds between two kills; default: 1")
    add("--clients", type=int, default=50, help="default: 50, of which a fifth is the official SDK's")
    add("--workers", type=int, default=4)
    add("--rounds", type=int, default=50, help="of kill mid-stream, resume elsewhere; default: 50")
    add("--fault", choices=("pause", "restart"), help="redis: instead of killing workers, do this to Redis")
    add("--seed", type=int, default=1)
    add("--short", action="store_true", help="half a minute on SQLite: 10 s, 20 clients, 10 rounds")
    options = parser.parse_args(words)
    if options.short:
        options.store, options.seconds, options.clients, options.rounds = ["sqlite"], 10.0, 20, 10
    options.store = options.store or ["sqlite", "redis"]
    return options


async def attack(options: argparse.Namespace, directory: Path, kind: str) -> list[Entry]:
    """One run on one kind of store; returns the history of all sides."""
    nemesis = Recorder("nemesis")
    with ExitStack() as stack:
        redis = stack.enter_context(redis_server(directory)) if kind == "redis" else None
        if redis is not None:
            await redis.answers()
        store = f"sqlite:///{directory / 'state.db'}" if redis is None else redis.url
        async with cluster(directory, nemesis, store=store, workers=options.workers) as served:
            harm = harm_redis(redis, nemesis, options) if options.fault else kill_workers(served, options)
            recorders, official, _ = await asyncio.gather(
                run_clients(served, options), run_official(served, options), harm
            )
            if not options.fault:
                recorders += await run_rounds(served, options)
            if not served.is_running:
                raise RuntimeError("the parent of the workers has ended")
    own = [entry for recorder in (nemesis, *recorders) for entry in recorder.entries]
    return [*own, *official, *read(directory / "notes.jsonl")]


async def kill_workers(served: Cluster, options: argparse.Namespace) -> None:
    await served.kill_every(options.interval, options.seconds, options.seed)


async def harm_redis(redis: Any, nemesis: Recorder, options: argparse.Namespace) -> None:
    await asyncio.sleep(options.seconds / 4)
    if options.fault == "pause":
        nemesis.note("paused")
        await redis.pause(10.0)
        nemesis.note("resumed")
    else:
        await redis.restart()
        nemesis.note("restarted")


def shares(options: argparse.Namespace) -> tuple[int, int, int]:
    """How many clients of each kind: ours with sessions, ours without, the official SDK's."""
    official = options.clients // 5 if PEER.exists() else 0
    sessionless = options.clients // 5
    return options.clients - official - sessionless, sessionless, official


async def run_clients(served: Cluster, options: argparse.Namespace) -> list[Recorder]:
    with_session, without, _ = shares(options)
    end = monotonic() + options.seconds

    async def one(number: int, handshake: bool) -> Recorder:
        recorder = Recorder(f"{'session' if handshake else 'assay'}-{number}")
        tools = MIX if handshake else ("add", "read", "draw", "draw")
        async with AssayCaller(served.url, recorder, handshake=handshake) as caller:
            await run_calls(
                caller,
                recorder,
                seed=options.seed,
                tools=tools,
                going=lambda: monotonic() < end,
                pause=asyncio.sleep,
            )
        return recorder

    clients = [one(number, True) for number in range(with_session)]
    clients += [one(number, False) for number in range(without)]
    return list(await asyncio.gather(*clients))


async def run_official(served: Cluster, options: argparse.Namespace) -> list[Entry]:
    count = shares(options)[2]
    if not count:
        return []
    words = [str(OFFICIAL), served.url, str(options.seed), str(options.seconds), str(count)]
    process = await asyncio.create_subprocess_exec(str(PEER), *words, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(options.seconds + 90):
            output = await process.stdout.read()
            code = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
    if code:
        raise RuntimeError(f"the official client ended with {code}")
    return [json.loads(line) for line in output.splitlines()]


async def run_rounds(served: Cluster, options: argparse.Namespace) -> list[Recorder]:
    """Kill the worker of a stream in its midst; the client resumes it elsewhere."""
    recorders: list[Recorder] = []
    async with AsyncExitStack() as stack:
        callers: list[AssayCaller] = []
        for number in range(min(AT_ONCE, options.rounds)):
            recorder = Recorder(f"round-{number}")
            recorders.append(recorder)

            def on_event(data: dict[str, Any]) -> None:
                if data["number"] == KILL_AT:
                    served.kill(data["pid"])

            caller = AssayCaller(served.url, recorder, handshake=True, on_event=on_event)
            callers.append(await stack.enter_async_context(caller))
        pairs = list(zip(callers, recorders, strict=True))
        for start in range(0, options.rounds, AT_ONCE):
            wave = pairs[: min(AT_ONCE, options.rounds - start)]
            await asyncio.gather(
                *(one_call(each, recorder, recorder.next_call(), "stream") for each, recorder in wave)
            )
    return recorders


def show(violations: list[Violation], entries: list[Entry]) -> None:
    for violation in violations[:SHOWN]:
        print(f"\nBROKEN {violation.rule}: {violation.call} {violation.text}")
        for entry in of_call(entries, violation.call):
            print(f"  {json.dumps(entry)}")
    if len(violations) > SHOWN:
        print(f"\nand {len(violations) - SHOWN} more")


def main(words: list[str]) -> int:
    options = read_options(words)
    rows, code = [], 0
    for kind in options.store:
        with tempfile.TemporaryDirectory(prefix="assay-nemesis-") as name:
            entries = asyncio.run(attack(options, Path(name), kind))
        violations, numbers = check(entries), summary(entries)
        show_errors(kind, entries)
        proved = numbers["resumed streams"] > 0 or options.fault is not None
        rows.append([kind, *(f"{value:g}" for value in numbers.values()), str(len(violations))])
        if violations:
            KEPT.mkdir(parents=True, exist_ok=True)
            path = KEPT / f"history-{kind}-{options.seed}.jsonl"
            write(path, entries)
            show(violations, entries)
            print(f"\nthe whole history: {path.relative_to(ROOT)}")
        code = 1 if violations or code == 1 else code or (0 if proved else 2)
    print(as_markdown([["store", *numbers, "rules broken"], *rows]))
    return code


def show_errors(kind: str, entries: list[Entry]) -> None:
    for text, count in errors_by_text(entries):
        print(f"{kind}: {count:5} errors of {text}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
