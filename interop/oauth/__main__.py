"""Let the official Python SDK go through OAuth against our authority and servers; then look for its secrets.

The client begins with the address of a protected server and nothing else; it goes from the first 401 to a
token, a refresh, a step up and a new beginning. Then secrets are sent where they are refused, and the lab
judges the same server. Every secret that was on the wire, and every private key, is searched for in all that
was written meanwhile: output and logs (at level DEBUG), traces, reports, refusals, the authority's store.
Exit codes: 0 all works and nothing was found, 1 not so, 2 usage, 3 could not run, 4 a server did not start,
130 interrupted.
"""

import argparse
import asyncio
import json
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from interop.children import child, lines_until_end
from interop.clients import PEERS, PROGRAM_TIMEOUT, PROGRAMS, ROOT
from interop.ending import exit_code, stop_on_request
from interop.matrix import (
    CLOSE,
    HANDSHAKE,
    PER_REQUEST,
    Column,
    as_json,
    is_complete,
    markdown,
    read_lines,
    table,
    with_block,
)
from interop.oauth.judging import judge_all
from interop.oauth.misuse import misuse
from interop.oauth.recorder import KINDS, Secret
from interop.oauth.scene import LIFETIME, ROBOT, Scene, staged
from interop.oauth.searching import Search, files_below, search, shown
from interop.official import Exit

FEATURES = (
    *("discovery", "registration", "authorization", "token", "tools", "refresh", "reuse"),
    *("bad token", "small scope", "step-up", "public client", "client secret", "private key", CLOSE),
)
MARKS = ("<!-- OAuth table: written by `make interop` -->", "<!-- end of OAuth table -->")
SDK = PEERS[0]


@dataclass
class Act:
    """What was done in a scene: the journeys through it, and what went wrong beside them."""

    scene: Scene
    columns: list[Column]
    secrets: set[Secret] = field(repr=False)
    problems: list[str] = field(default_factory=list)


async def travel(scene: Scene, revision: str, python: Path) -> Column:
    """One journey of the SDK through the scene."""
    task = {
        "revision": revision,
        "reference": scene.reference,
        "stepped": scene.stepped,
        "issuer": scene.issuer,
        "opaque": scene.opaque,
        "lifetime": LIFETIME,
        "robot": ROBOT,
        "keyed": scene.keyed,
    }
    command = (str(python), str(SDK.folder / "oauth_client.py"), json.dumps(task))
    environment = {
        "PYTHONPATH": str(PROGRAMS),
        "ROBOT_SECRET": scene.robot_secret,
        "PRIVATE_KEY": scene.key.pem,
    }
    log = scene.directory / f"{SDK.name}-{revision}.err"
    async with child(command, log, environment) as process:
        lines, problem = await lines_until_end(process, PROGRAM_TIMEOUT)
    log.with_suffix(".out").write_text("".join(lines), "utf-8")
    cells = read_lines(lines, frozenset(), problem, FEATURES)
    kind = "opaque tokens" if scene.opaque else "signed tokens"
    return Column(f"{SDK.title} {SDK.version()}", revision, kind, cells)


async def act(options: argparse.Namespace, python: Path, revisions: Sequence[str], opaque: bool) -> Act:
    """Journeys, misuses and, where tokens are signed, the lab; everything has ended then."""
    directory = options.results / ("opaque" if opaque else "signed")
    async with staged(directory, opaque=opaque) as scene:
        async with asyncio.TaskGroup() as group:
            journeys = [group.create_task(travel(scene, revision, python)) for revision in revisions]
            misusing = group.create_task(misuse(scene))
            judging = None if opaque else group.create_task(judge_all(scene, options.quick, options.node))
        columns = [journey.result() for journey in journeys]
        refused, taken, key = misusing.result()
        problems = [f"not refused, {directory.name}: {name}" for name in taken]
        problems += judging.result() if judging else []
    print(f"  {directory.name} tokens: {len(columns)} journeys, {refused} misuses refused", flush=True)
    return Act(scene, columns, scene.secrets() | scene.signing | key.secrets, problems)


def searches(results: Path, acts: Sequence[Act]) -> Iterator[Search]:
    """Everything for everything; only the store may hold the authority's own keys."""
    secrets = {secret for act in acts for secret in act.secrets}
    signing = {secret for act in acts for secret in act.scene.signing}
    files = [(name, text) for name, text in files_below(results)]
    stores = {act.scene.store.name for act in acts}
    kept = [named for named in files if Path(named[0]).name in stores]
    texts = {
        "files": [named for named in files if named not in kept],
        "answers of servers": [answer for act in acts for answer in act.scene.answers()],
        "refusals of the authority": [refusal for act in acts for refusal in act.scene.refusals()],
    }
    yield search(texts, secrets, (*KINDS, "private key"))
    yield search({"stores of the authority": kept}, secrets - signing, KINDS)


async def run_all(options: argparse.Namespace, python: Path) -> Exit:
    stop_on_request()
    began = time.monotonic()
    shutil.rmtree(options.results, ignore_errors=True)
    async with asyncio.TaskGroup() as group:
        signed = group.create_task(act(options, python, (HANDSHAKE, PER_REQUEST), opaque=False))
        opaque = group.create_task(act(options, python, (PER_REQUEST,), opaque=True))
    acts = (signed.result(), opaque.result())
    columns = [column for act in acts for column in act.columns]
    (options.results / "oauth.json").write_text(as_json(columns), "utf-8")
    found = list(searches(options.results, acts))
    problems = [f"✗ {problem}" for act in acts for problem in act.problems]
    print("\n".join(["", table(columns), *problems, "", *map(shown, found)]))
    print(f"\n{len(columns)} journeys in {time.monotonic() - began:.0f} s; logs: {options.results}")
    if options.docs is not None:
        page = options.docs.read_text("utf-8")
        options.docs.write_text(with_block(page, markdown(columns), MARKS), "utf-8")
    good = is_complete(columns) and not problems and all(result.is_clean for result in found)
    return Exit.CONFORMS if good else Exit.DOES_NOT_CONFORM


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="interop.oauth", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="let the lab judge little")
    add("--node", type=Path, help="run the official suite on the authority as well, with this Node")
    add("--environments", type=Path, default=ROOT / ".venv-peers", help="one Python environment per client")
    add("--results", type=Path, default=ROOT / "results" / "oauth", help="emptied, then written")
    add("--docs", type=Path, help="the page to write the table to")
    return parser.parse_args()


def execute(options: argparse.Namespace) -> Exit:
    python, _ = SDK.command("", options.environments)
    return asyncio.run(run_all(options, Path(python)))


def main() -> int:
    options = parse()
    return exit_code(lambda: execute(options))


if __name__ == "__main__":
    sys.exit(main())
