"""The official suite on our saboteurs: which ones count as caught, and what is printed."""

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
from interop.child_process import child
from interop.kill_rate.fault_activity import Activity, observed
from interop.kill_rate.official_run import SuiteReport, read_complaints
from interop.kill_rate.our_run import Candidate, judge_all
from interop.kill_rate.page import page, rows, terminal
from interop.kill_rate.record import (
    Attempt,
    Detection,
    Record,
    detection_of,
    rates,
    read_record,
    write_record,
)
from tests.driving.process import ROOT

CONTEXT = FaultContext(Transport.HTTP, HANDSHAKE[-1])
FAILED, WARNED = "FAILURE ping ping", "WARNING ping ping"


def attempt(name: str = "tools.x", *official: str, **known: bool) -> Attempt:
    facts = {"ours": True, "shows": True, "acted": True, **known}
    return Attempt("protocol", name, HANDSHAKE[-1].date, "a fault", official=list(official), **facts)


def with_hook(**hook: Callable[[Any, FaultContext], Any]) -> tuple[Saboteur, Activity]:
    activity = Activity()
    return observed(Saboteur(id="tools.x", fault="a fault", breaks="X-1", **hook), activity), activity


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
def test_a_fault_is_active_where_it_changes_a_reply(
    change: Callable[[Any, FaultContext], Any], acted: bool
) -> None:
    saboteur, activity = with_hook(reply=change)
    assert saboteur.reply is not None
    saboteur.reply({"id": 1, "result": {}}, CONTEXT)
    assert activity.acted is acted


def test_a_fault_is_active_where_it_changes_or_replaces_http() -> None:
    saboteur, activity = with_hook(response=with_status)
    assert saboteur.response is not None
    saboteur.response(Response([], 200), CONTEXT)
    assert activity.acted
    saboteur, activity = with_hook(call=lambda request, context: None)
    assert saboteur.call is not None
    assert saboteur.call(Request([], "POST", "/"), CONTEXT) is None
    assert not activity.acted
    saboteur, activity = with_hook(call=lambda request, context: Response([], 404))
    assert saboteur.call is not None
    saboteur.call(Request([], "POST", "/"), CONTEXT)
    assert activity.acted


def failing_hook(message: Any, context: FaultContext) -> Any:
    message["id"] = 2
    return message["no such key"]


def failing_hook_in_place(response: Response, context: FaultContext) -> None:
    response.status = 500
    raise KeyError


def test_a_fault_passes_what_it_cannot_handle() -> None:
    saboteur, activity = with_hook(reply=failing_hook, response=failing_hook_in_place)
    assert saboteur.reply is not None and saboteur.response is not None
    assert saboteur.reply({"id": 1}, CONTEXT) == {"id": 1}
    saboteur.response(response := Response([], 200), CONTEXT)
    assert response.status == 200
    assert activity.failed_to_apply and not activity.acted


USUAL = SuiteReport({"ping": ["WARNING slow"], "tools-list": []}, finished=True, acted=False, seconds=1)


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
def test_only_complaints_that_the_healthy_server_does_not_get_count(
    complaints: dict[str, list[str]], finished: bool, beyond: list[str]
) -> None:
    assert SuiteReport(complaints, finished, acted=True, seconds=1).beyond(USUAL) == beyond


@pytest.mark.parametrize(
    ("attempts", "detection"),
    [
        ([attempt("tools.x", WARNED), attempt("tools.x", FAILED)], Detection.FAILED),
        ([attempt("tools.x"), attempt("tools.x", WARNED)], Detection.WARNED),
        ([attempt(), attempt(acted=False)], Detection.MISSED),
        ([attempt(acted=False)], Detection.NOT_TRIGGERED),
        ([attempt(acted=False, shows=False)], Detection.NOT_COMPARABLE),
    ],
)
def test_the_first_detection_that_applies_at_any_revision_counts(
    attempts: list[Attempt], detection: Detection
) -> None:
    assert detection_of(attempts) is detection


ATTEMPTS = [
    attempt("tools.a", FAILED),
    attempt("tools.b", WARNED),
    attempt("tools.c"),
    attempt("tools.d", acted=False, shows=False),
    attempt("http.a"),
]


def test_what_is_not_comparable_counts_for_neither() -> None:
    counted = [
        (rate.area, rate.saboteurs, rate.ours, rate.official, rate.not_comparable) for rate in rates(ATTEMPTS)
    ]
    assert counted == [("http", 1, 1, 0, 0), ("tools", 3, 3, 2, 1), ("all", 4, 4, 2, 1), ("all", 4, 4, 2, 1)]
    assert ("protocol", "tools", "3", "3 (100%)", "2 (67%)", "1", "1", "1") in list(rows(ATTEMPTS))


def test_the_table_is_aligned_and_the_page_names_missed_saboteurs(tmp_path: Path) -> None:
    record = Record("suite 1", [HANDSHAKE[-1].date], ["protocol.jsonrpc.batch"], ATTEMPTS)
    write_record(record, tmp_path / "record.json")
    assert read_record(tmp_path / "record.json") == record
    assert len({len(line) for line in terminal(ATTEMPTS).splitlines()}) == 1
    text = page(record)
    assert "## Missed: active, not detected: 2" in text
    assert f"| protocol: tools.a | a fault | {HANDSHAKE[-1]} | ping ping |" in text
    assert "- protocol.jsonrpc.batch" in text


def test_page_is_as_the_record_has_it() -> None:
    assert (ROOT / "docs" / "evidence" / "kill-rate.md").read_text("utf-8") == page(read_record())


def fake_suite(tmp_path: Path, scenarios: dict[str, str], *, then: str) -> tuple[str, ...]:
    """A program with the output of the suite: one check per scenario."""
    lines = []
    for name, status in scenarios.items():
        folder = tmp_path / f"server-{name}-2026-01-31T21-51-12-355Z"
        folder.mkdir()
        (folder / "checks.json").write_text(json.dumps([{"id": name, "status": status}]), "utf-8")
        lines.append(f"Results saved to {folder}")
    return sys.executable, "-c", f"print({chr(10).join(lines)!r}, flush=True)\n{then}"


@pytest.mark.parametrize("usual", [USUAL, None])
async def test_all_scenarios_are_read_when_nothing_fails(usual: SuiteReport | None, tmp_path: Path) -> None:
    command = fake_suite(tmp_path, {"ping": "SUCCESS", "tools-list": "WARNING"}, then="")
    async with child(command, tmp_path / "log") as process:
        report = await read_complaints(process, usual)
    assert report == ({"ping": [], "tools-list": ["WARNING tools-list"]}, True)


async def test_first_failure_is_enough(tmp_path: Path) -> None:
    command = fake_suite(tmp_path, {"ping": "FAILURE"}, then="import signal; signal.pause()")
    async with child(command, tmp_path / "log") as process, asyncio.timeout(20):
        report = await read_complaints(process, USUAL)
    assert report == ({"ping": ["FAILURE ping"]}, False)


async def test_our_checks_run_on_the_own_server_and_on_the_fixtures() -> None:
    suite = protocol_suite()
    candidate = Candidate(suite, suite.saboteurs["lifecycle.no-ping"])
    verdicts = await judge_all([candidate], (HANDSHAKE[-1], PER_REQUEST[-1]))
    assert verdicts.revisions(candidate) == [HANDSHAKE[-1]]
    assert verdicts.on_own_server(candidate, HANDSHAKE[-1]) and verdicts.on_fixtures(candidate, HANDSHAKE[-1])
