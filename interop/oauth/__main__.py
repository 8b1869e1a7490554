"""Run the official Python SDK through OAuth against our authority and servers, then search for leaked
secrets.

The client starts with the address of a protected server: from the first 401 to a token, a refresh, a step-up
and a new authorization. Then secrets are sent to places that refuse them, and the lab judges the same server.
Every secret on the wire and every private key is searched for in everything that was written: output and logs
at level DEBUG, traces, reports, refusals, the authority's store.

Exit codes: 0 everything works and nothing leaked, 1 otherwise, 2 usage, 3 could not run, 4 a server did not
start, 130 interrupted.
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

from interop.child_process import child, lines_until_end
from interop.clients import PEERS, PROGRAM_TIMEOUT, ROOT
from interop.exit_code import exit_code, stop_on_request
from interop.features import (
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
from interop.oauth.environment import LIFETIME, ROBOT, OAuthEnvironment, running_environment
from interop.oauth.lab_run import judge_all
from interop.oauth.misuse import misuse
from interop.oauth.recorder import KINDS, Secret
from interop.oauth.secret_search import Search, files_below, report, search
from interop.official import Exit
from interop.peer import PROGRAMS

FEATURES = (
    *("discovery", "registration", "authorization", "token", "tools", "refresh", "reuse"),
    *("bad token", "small scope", "step-up", "public client", "client secret", "private key", CLOSE),
)
MARKS = ("<!-- OAuth table: written by `make interop` -->", "<!-- end of OAuth table -->")
SDK = PEERS[0]


@dataclass
class OAuthRun:
    """The flows of one environment, and other problems."""

    environment: OAuthEnvironment
    columns: list[Column]
    secrets: set[Secret] = field(repr=False)
    problems: list[str] = field(default_factory=list)


async def run_client(environment: OAuthEnvironment, revision: str, python: Path) -> Column:
    """One flow of the SDK through the environment."""
    task = {
        "revision": revision,
        "reference": environment.reference,
        "stepped": environment.stepped,
        "issuer": environment.issuer,
        "opaque": environment.opaque,
        "lifetime": LIFETIME,
        "robot": ROBOT,
        "keyed": environment.keyed,
    }
    command = (str(python), str(SDK.folder / "oauth_client.py"), json.dumps(task))
    variables = {
        "PYTHONPATH": str(PROGRAMS),
        "ROBOT_SECRET": environment.robot_secret,
        "PRIVATE_KEY": environment.key.pem,
    }
    log = environment.directory / f"{SDK.name}-{revision}.err"
    async with child(command, log, variables) as process:
        lines, problem = await lines_until_end(process, PROGRAM_TIMEOUT)
    log.with_suffix(".out").write_text("".join(lines), "utf-8")
    cells = read_lines(lines, frozenset(), problem, FEATURES)
    kind = "opaque tokens" if environment.opaque else "signed tokens"
    return Column(f"{SDK.title} {SDK.version()}", revision, kind, cells)


async def run_environment(
    options: argparse.Namespace, python: Path, revisions: Sequence[str], opaque: bool
) -> OAuthRun:
    """Flows, misuses and, with signed tokens, the lab; returns when everything has ended."""
    directory = options.results / ("opaque" if opaque else "signed")
    async with running_environment(directory, opaque=opaque) as environment:
        async with asyncio.TaskGroup() as group:
            flows = [group.create_task(run_client(environment, revision, python)) for revision in revisions]
            misuses = group.create_task(misuse(environment))
            lab = None if opaque else group.create_task(judge_all(environment, options.quick, options.node))
        columns = [flow.result() for flow in flows]
        refused, accepted, key = misuses.result()
        problems = [f"not refused, {directory.name}: {name}" for name in accepted]
        problems += lab.result() if lab else []
    print(f"  {directory.name} tokens: {len(columns)} flows, {refused} misuses refused", flush=True)
    return OAuthRun(environment, columns, environment.secrets() | environment.signing | key.secrets, problems)


def searches(results: Path, runs: Sequence[OAuthRun]) -> Iterator[Search]:
    """Search all texts for all secrets; only the store may contain the authority's keys."""
    secrets = {secret for run in runs for secret in run.secrets}
    signing = {secret for run in runs for secret in run.environment.signing}
    files = [(name, text) for name, text in files_below(results)]
    stores = {run.environment.store.name for run in runs}
    store_files = [named for named in files if Path(named[0]).name in stores]
    texts = {
        "files": [named for named in files if named not in store_files],
        "answers of servers": [answer for run in runs for answer in run.environment.answers()],
        "refusals of the authority": [refusal for run in runs for refusal in run.environment.refusals()],
    }
    yield search(texts, secrets, (*KINDS, "private key"))
    yield search({"stores of the authority": store_files}, secrets - signing, KINDS)


async def run_all(options: argparse.Namespace, python: Path) -> Exit:
    stop_on_request()
    began = time.monotonic()
    shutil.rmtree(options.results, ignore_errors=True)
    async with asyncio.TaskGroup() as group:
        signed = group.create_task(run_environment(options, python, (HANDSHAKE, PER_REQUEST), opaque=False))
        opaque = group.create_task(run_environment(options, python, (PER_REQUEST,), opaque=True))
    runs = (signed.result(), opaque.result())
    columns = [column for run in runs for column in run.columns]
    (options.results / "oauth.json").write_text(as_json(columns), "utf-8")
    results = list(searches(options.results, runs))
    problems = [f"✗ {problem}" for run in runs for problem in run.problems]
    print("\n".join(["", table(columns), *problems, "", *map(report, results)]))
    print(f"\n{len(columns)} flows in {time.monotonic() - began:.0f} s; logs: {options.results}")
    if options.docs is not None:
        page = options.docs.read_text("utf-8")
        options.docs.write_text(with_block(page, markdown(columns), MARKS), "utf-8")
    good = is_complete(columns) and not problems and all(result.is_clean for result in results)
    return Exit.CONFORMS if good else Exit.DOES_NOT_CONFORM


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="interop.oauth", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="run only a part of the lab")
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
