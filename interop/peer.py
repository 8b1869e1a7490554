"""Programs on other SDKs in `peers/<name>/`: their pinned versions and commands, and running many at once."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

from interop.official import Aborted, Exit

PROGRAMS = Path(__file__).parent / "peers"
Job = TypeVar("Job")
Outcome = TypeVar("Outcome")


def pinned_version(folder: Path, package: str) -> str:
    """The version of a package in the pins of a program."""
    requirements = folder / "requirements.txt"
    if requirements.is_file():
        pins = requirements.read_text("utf-8").splitlines()
        return dict(pin.split("==") for pin in pins)[package]
    manifest = json.loads((folder / "package.json").read_text("utf-8"))
    return str(manifest["dependencies"][package])


def command_of(folder: Path, program: str, package: str, node: str, environments: Path) -> tuple[str, ...]:
    """The command of `client` or `server` in a folder, in Python or JavaScript.

    Raises:
        Aborted: its SDK is not installed.
    """
    script = folder / f"{program}.py"
    python = environments / folder.name / "bin" / "python"
    installed = python if script.is_file() else folder / "node_modules" / package
    if not installed.exists():
        problem = f"{package} is not installed: {installed} is missing; run `make interop`"
        raise Aborted(Exit.COULD_NOT_RUN, problem)
    return (str(python), str(script)) if script.is_file() else (node, str(folder / f"{program}.mjs"))


async def run_jobs(
    jobs: Sequence[Job], run: Callable[[Job], Awaitable[Outcome]], limit: int
) -> list[Outcome]:
    """Run jobs, `limit` at once; the outcomes are in the order of the jobs."""
    slots = asyncio.Semaphore(limit)

    async def run_in_slot(job: Job) -> Outcome:
        async with slots:
            return await run(job)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run_in_slot(job)) for job in jobs]
    return [task.result() for task in tasks]
