"""The official suite on our saboteurs: who counts as caught, and what is printed of it."""

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.lab.harness.sabotage.saboteur import FaultContext, Request, Response, Saboteur
from assay.lab.harness.transport import Transport
from assay.lab.suites import protocol_suite
from assay.revisions.registry import HANDSHAKE, PER_REQUEST
from interop.children import child
from interop.kill_rate.noticing import Notice, noticed
from interop.kill_rate.official_run import Heard, listen
from interop.kill_rate.our_run import Candidate, see_all
from interop.kill_rate.page import page, rows, terminal
from interop.kill_rate.record import Attempt, Fate, Record, fate_of, rates, read_record, write_record
from tests.driving.process import ROOT

TURN = FaultContext(Transport.HTTP, HANDSHAKE[-1])
FAILED, WARNED = "FAILURE ping ping", "WARNING ping ping"


def attempt(name: str = "tools.x", *official: str, **known: bool) -> Attempt:
    seen = {"ours": True, "shows": True, "acted": True, **known}
    return Attempt("protocol", name, HANDSHAKE[-1].date, "a fault", official=list(official), **seen)


def with_hook(**hook: Callable[[Any, FaultContext], Any]) -> tuple[Saboteur, Notice]:
    notice = Notice()
    return noticed(Saboteur(id="tools.x", fault="a fault", breaks="X-1", **hook), notice), notice


def in_place(reply: Any, context: FaultContext) -> Any:
    reply["result"] = 1
    return reply


def with_status(response: Response, context: FaultContext) -> None:
    response.status = 500


@pytest.mark.parametrize(
    ("change", "acted"),
    [
        (lambda reply, context: reply, False),
        (lambda reply, context: {**reply}, False),
        (lambda reply, context: None, True),
        (lambda reply, context: [reply, reply], True),
        (lambda reply, context: b"no JSON", True),
        (in_place, True),
    ],
)
def test_fault_is_at_work_where_it_changes_a_reply(
    change: Callable[[Any, FaultContext], Any], acted: bool
) -> None:
    saboteur, notice = with_hook(reply=change)
    assert saboteur.reply is not None
    saboteur.reply({"id": 1, "result": {}}, TURN)
    assert notice.acted is acted


def test_fault_is_at_work_where_it_changes_or_replaces_what_http_carries() -> None:
    saboteur, notice = with_hook(response=with_status)
    assert saboteur.response is not None
    saboteur.response(Response([], 200), TURN)
    assert notice.acted
    saboteur, notice = with_hook(call=lambda request, context: None)
    assert saboteur.call is not None
    assert saboteur.call(Request([], "POST", "/"), TURN) is None
    assert not notice.acted
    saboteur, notice = with_hook(call=lambda request, context: Response([], 404))
    assert saboteur.call is not None
    saboteur.call(Request([], "POST", "/"), TURN)
    assert notice.acted


def stumbling(given: Any, context: FaultContext) -> Any:
    given["id"] = 2
    return given["no such key"]


def stumbling_in_place(response: Response, context: FaultContext) -> None:
    response.status = 500
    raise KeyError


def test_fault_lets_pass_what_it_was_not_made_for() -> None:
    saboteur, notice = with_hook(reply=stumbling, response=stumbling_in_place)
    assert saboteur.reply is not None and saboteur.response is not None
    assert saboteur.reply({"id": 1}, TURN) == {"id": 1}
    saboteur.response(response := Response([], 200), TURN)
    assert response.status == 200
    assert notice.stumbled and not notice.acted


USUAL = Heard({"ping": ["WARNING slow"], "tools-list": []}, finished=True, acted=False, seconds=1)


@pytest.mark.parametrize(
    ("complaints", "finished", "beyond"),
    [
        ({"ping": [], "tools-list": []}, True, []),
        ({"ping": ["WARNING slow"], "tools-list": []}, True, []),
        ({"ping": ["FAILURE slow"], "tools-list": []}, True, ["FAILURE ping slow"]),
        ({"ping": [], "tools-list": ["WARNING order"]}, True, ["WARNING tools-list order"]),
        ({"ping": []}, True, ["FAILURE tools-list (no checks)"]),
        ({"ping": []}, False, []),
    ],
)
def test_only_what_the_healthy_server_is_spared_counts(
    complaints: dict[str, list[str]], finished: bool, beyond: list[str]
) -> None:
    assert Heard(complaints, finished, acted=True, seconds=1).beyond(USUAL) == beyond


@pytest.mark.parametrize(
    ("attempts", "fate"),
    [
        ([attempt("tools.x", WARNED), attempt("tools.x", FAILED)], Fate.FAILED),
        ([attempt("tools.x"), attempt("tools.x", WARNED)], Fate.WARNED),
        ([attempt(), attempt(acted=False)], Fate.UNSEEN),
        ([attempt(acted=False)], Fate.UNPROVOKED),
        ([attempt(acted=False, shows=False)], Fate.UNPLAYABLE),
    ],
)
def test_fate_is_the_first_that_fits_at_any_revision(attempts: list[Attempt], fate: Fate) -> None:
    assert fate_of(attempts) is fate


ATTEMPTS = [
    attempt("tools.a", FAILED),
    attempt("tools.b", WARNED),
    attempt("tools.c"),
    attempt("tools.d", acted=False, shows=False),
    attempt("http.a"),
]


def test_what_is_not_playable_counts_for_neither() -> None:
    counted = [(one.area, one.saboteurs, one.ours, one.official, one.unplayable) for one in rates(ATTEMPTS)]
    assert counted == [("http", 1, 1, 0, 0), ("tools", 3, 3, 2, 1), ("all", 4, 4, 2, 1), ("all", 4, 4, 2, 1)]
    assert ("protocol", "tools", "3", "3 (100%)", "2 (67%)", "1", "1", "1") in list(rows(ATTEMPTS))


def test_table_is_aligned_and_page_names_who_got_away(tmp_path: Path) -> None:
    record = Record("suite 1", [HANDSHAKE[-1].date], ["protocol.jsonrpc.batch"], ATTEMPTS)
    write_record(record, tmp_path / "record.json")
    assert read_record(tmp_path / "record.json") == record
    assert len({len(line) for line in terminal(ATTEMPTS).splitlines()}) == 1
    text = page(record)
    assert "## Got away: at work, and not seen: 2" in text
    assert f"| protocol: tools.a | a fault | {HANDSHAKE[-1]} | ping ping |" in text
    assert "- protocol.jsonrpc.batch" in text


def test_page_is_as_the_record_has_it() -> None:
    assert (ROOT / "docs" / "evidence" / "kill-rate.md").read_text("utf-8") == page(read_record())


def pretending(tmp_path: Path, scenarios: dict[str, str], *, then: str) -> tuple[str, ...]:
    """A program that says what the suite says, scenario by scenario, with one check each."""
    lines = []
    for name, status in scenarios.items():
        folder = tmp_path / f"server-{name}-2026-01-31T21-51-12-355Z"
        folder.mkdir()
        (folder / "checks.json").write_text(json.dumps([{"id": name, "status": status}]), "utf-8")
        lines.append(f"Results saved to {folder}")
    return sys.executable, "-c", f"print({chr(10).join(lines)!r}, flush=True)\n{then}"


@pytest.mark.parametrize("usual", [USUAL, None])
async def test_all_scenarios_are_heard_when_nothing_fails(usual: Heard | None, tmp_path: Path) -> None:
    command = pretending(tmp_path, {"ping": "SUCCESS", "tools-list": "WARNING"}, then="")
    async with child(command, tmp_path / "log") as process:
        heard = await listen(process, usual)
    assert heard == ({"ping": [], "tools-list": ["WARNING tools-list"]}, True)


async def test_first_failure_is_enough(tmp_path: Path) -> None:
    command = pretending(tmp_path, {"ping": "FAILURE"}, then="import signal; signal.pause()")
    async with child(command, tmp_path / "log") as process, asyncio.timeout(20):
        heard = await listen(process, USUAL)
    assert heard == ({"ping": ["FAILURE ping"]}, False)


async def test_our_checks_are_tried_at_home_and_before_the_fixtures() -> None:
    suite = protocol_suite()
    one = Candidate(suite, suite.saboteurs["lifecycle.no-ping"])
    seen = await see_all([one], (HANDSHAKE[-1], PER_REQUEST[-1]))
    assert seen.revisions(one) == [HANDSHAKE[-1]]
    assert seen.at_home(one, HANDSHAKE[-1]) and seen.on_fixtures(one, HANDSHAKE[-1])
