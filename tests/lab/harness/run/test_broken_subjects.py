"""Subjects that exit, or write something else than messages, get findings instead of "incomplete"."""

from pathlib import Path
from typing import Any

import pytest

from assay.lab.harness.run.conclusion import Conclusion, conclude
from assay.lab.harness.run.plan import Selection
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.run.runner import Runner, RunSettings, SubjectDown
from assay.lab.harness.subject.subject import AnnouncedSubject, CommandSubject, Subject
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.harness.verdict import Finding, Outcome
from assay.lab.suites import protocol_suite
from assay.revisions.registry import HANDSHAKE
from tests.driving.warm_python import warm_python

ANSWER = """
import json, os, sys

def answer(message):
    if message.get("method") == "no/such/method":
        print("traceback: no such method", file=sys.stderr, flush=True)
        os._exit(3)
    if "id" not in message:
        return None
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "initialize":
        version = message["params"]["protocolVersion"]
        server = {"name": "x", "version": "1"}
        return {**reply, "result": {"protocolVersion": version, "capabilities": {}, "serverInfo": server}}
    return {**reply, "result": {}}
"""
STDIO = """
for line in sys.stdin:
    reply = answer(json.loads(line))
    if reply is not None:
        text = json.dumps(reply)
        sys.stdout.write(FRAMING)
        sys.stdout.flush()
"""
SILENT = """
for line in sys.stdin:
    message = json.loads(line)
    reply = answer(message)
    if message.get("id") == "a ping named by text" and IS_SILENT:
        open("silent", "w").close()
    elif reply is not None:
        print(json.dumps(reply), flush=True)
"""
HTTP = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        reply = answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        body = b"" if reply is None else json.dumps(reply).encode()
        self.send_response(202 if reply is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args): pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"MCP endpoint: http://127.0.0.1:{server.server_port}/mcp", flush=True)
server.serve_forever()
"""
BRIEF = Conditions(patience=0.5)


def store(result: CellResult, trace: Trace) -> CellResult:
    return result


def script(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "server.py"
    path.write_text(ANSWER + text, "utf-8")
    return [warm_python(), str(path)]


def speaking(tmp_path: Path, framing: str) -> Subject:
    return CommandSubject(script(tmp_path, STDIO.replace("FRAMING", framing)))


async def run(subject: Subject, *scenarios: str, **options: Any) -> Run:
    selection = Selection(scenarios, revisions=(HANDSHAKE[-1],))
    settings = RunSettings(protocol_suite(), selection, jobs=4, **options)
    return await Runner(settings, [subject], lambda event: None, store).run()


def findings(run: Run, requirement: str) -> list[Finding]:
    every = (finding for cell in run.cells for check in cell.checks for finding in check.findings)
    return [finding for finding in every if finding.requirement == requirement]


def outcomes(run: Run) -> dict[str, Outcome]:
    return {cell.scenario: cell.outcome for cell in run.cells}


async def test_process_that_exits_is_a_failure_with_status_and_standard_error(tmp_path: Path) -> None:
    judged = await run(speaking(tmp_path, 'text + "\\n"'), "jsonrpc-unknown-method", "lifecycle-ping")
    assert outcomes(judged) == {
        "jsonrpc.unknown-method": Outcome.FAILED,
        "lifecycle.ping": Outcome.PASSED,
    }
    assert conclude(judged) is Conclusion.DOES_NOT_CONFORM
    (finding,) = findings(judged, "ROBUST-10")
    assert finding.observed == (
        "the subject's process exited with status 3; standard error: traceback: no such method"
    )
    assert "no/such/method" in finding.excerpt[1]
    assert findings(judged, "ROBUST-11") == []


async def test_server_that_listens_and_exits_is_a_failure_of_one_scenario(tmp_path: Path) -> None:
    subject = AnnouncedSubject(script(tmp_path, HTTP), transport=Transport.HTTP)
    judged = await run(subject, "jsonrpc-unknown-method", "lifecycle-*")
    assert outcomes(judged).pop("jsonrpc.unknown-method") is Outcome.FAILED
    (finding,) = findings(judged, "ROBUST-10")
    assert finding.observed == (
        "the subject's process exited with status 3; standard error: traceback: no such method"
    )
    assert outcomes(judged)["lifecycle.ping"] is Outcome.PASSED


@pytest.mark.parametrize(
    ("is_silent", "outcome"),
    [("True", Outcome.FAILED), ("not os.path.exists('silent')", Outcome.PASSED)],
)
async def test_silence_is_a_failure_only_if_it_happens_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_silent: str, outcome: Outcome
) -> None:
    monkeypatch.chdir(tmp_path)
    subject = CommandSubject(script(tmp_path, SILENT.replace("IS_SILENT", is_silent)))
    judged = await run(subject, "lifecycle-ping", conditions=BRIEF)
    assert outcomes(judged) == {"lifecycle.ping": outcome}
    observed = ["ping: no answer within 0.5 s"] if outcome is Outcome.FAILED else []
    assert [finding.observed for finding in findings(judged, "ROBUST-11")] == observed


@pytest.mark.parametrize(
    ("framing", "requirement", "observed"),
    [
        ("text", "STD-01", "line 1: b'{"),
        ('json.dumps(reply, indent=1) + "\\n"', "STD-01", "a message of "),
        ('f"Content-Length: {len(text)}\\r\\n\\r\\n{text}"', "STD-02", "line 1: b'Content-Length: "),
        ('"> " + text + "\\n"', "STD-02", "line 1: b'> {"),
    ],
)
async def test_other_framing_is_a_finding_that_shows_the_line(
    tmp_path: Path, framing: str, requirement: str, observed: str
) -> None:
    judged = await run(speaking(tmp_path, framing), conditions=BRIEF)
    assert outcomes(judged) == {"discovery": Outcome.FAILED}
    assert conclude(judged) is Conclusion.DOES_NOT_CONFORM
    assert findings(judged, requirement)[0].observed.startswith(observed)
    assert findings(judged, "ROBUST-11") == []


async def test_command_that_prints_its_usage_and_exits_did_not_start(tmp_path: Path) -> None:
    subject = CommandSubject([warm_python(), "-c", "print('usage: server PORT'); raise SystemExit(2)"])
    with pytest.raises(SubjectDown, match="exited with status 2"):
        await run(subject)
