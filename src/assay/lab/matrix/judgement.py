"""What came of a pair, and whose fault it is: the lab judges both sides of the recorded traffic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.run.rejudge import rejudged
from assay.lab.harness.scripted_server.client import ClientExit
from assay.lab.harness.trace.agreement import spoken_revision
from assay.lab.harness.trace.frame import Kind, Sender
from assay.lab.harness.trace.trace import Exchange, Trace
from assay.lab.harness.trace.view import client_view
from assay.lab.harness.verdict import Finding, Verdict
from assay.lab.suites import suite_named
from assay.model.error import UNSUPPORTED_VERSION
from assay.revisions.revision import Opening

from .pair import Blame, BrokenRule, Pair, PairResult, Status, StepResult, StepStatus, joint
from .step import CONNECT, LONGEST, Step, Traffic, Word, judge_step, refusal

NOT_SUPPORTED: Final = 127
"""The exit status of a client that does not support what is asked of it, as in the QUIC interop runner."""
MOST_RULES: Final = 20
SUITES: Final = {Blame.SERVER: "protocol", Blame.CLIENT: "client"}
OPENINGS: Final = ("initialize", "server/discover")


class Recording(Struct, frozen=True):
    pair: Pair
    trace: Trace
    """The client is its driver, the server its subject."""
    exit: ClientExit
    steps: Sequence[Step]
    lacking: Mapping[str, str]
    """Steps that were not asked for, with reasons."""
    timeout: float
    flooded: bool = False


def judged(recording: Recording) -> PairResult:
    """The result of a pair that ran."""
    pair, exit_, trace = recording.pair, recording.exit, recording.trace
    if exit_.status == NOT_SUPPORTED:
        reason = last_line(exit_) or f"the client exited with status {NOT_SUPPORTED}"
        return PairResult(pair, Status.UNSUPPORTED, Blame.CLIENT, reason)
    if not _connected(trace):
        return _never_connected(recording)
    other = _other_revision(trace, pair.revision, spoken_revision(trace))
    if other is not None:
        return PairResult(pair, Status.UNSUPPORTED, *other)
    rules = [*broken_rules(trace, Blame.SERVER), *broken_rules(trace, Blame.CLIENT)]
    traffic = Traffic(trace, _frames_of(rules))
    steps = [_connect(traffic, exit_), *_steps(recording, traffic)]
    return _concluded(recording, steps, rules)


def _concluded(recording: Recording, steps: list[StepResult], rules: list[BrokenRule]) -> PairResult:
    failed = [step for step in steps if step.status is StepStatus.FAILED]
    ending = _bad_ending(recording, has_failed=bool(failed))
    blames = {step.blame for step in failed} | {rule.blame for rule in rules}
    blames |= {ending[0]} if ending else set()
    reasons = [
        *(f"{step.name}: {step.detail}" for step in failed),
        *([ending[1]] if ending else []),
        *(f"{rule.blame}: {rule.title}" for rule in rules),
    ]
    return PairResult(
        recording.pair,
        Status.FAULTY if reasons else Status.OK,
        joint(blames),
        reasons[0][:LONGEST] if reasons else "",
        steps=steps,
        rules=rules[:MOST_RULES],
    )


def _bad_ending(recording: Recording, *, has_failed: bool) -> tuple[Blame, str] | None:
    """What is wrong with the way the client ended, unless a step explains it."""
    exit_ = recording.exit
    if recording.flooded:
        return Blame.UNCLEAR, "more traffic than a recording may hold"
    if exit_.stopped:
        waiting = _unanswered(recording.trace)
        if waiting is not None:
            late = f"after {recording.timeout:g} s"
            return Blame.SERVER, f"the client waits for an answer to {waiting.method} {late}"
        return Blame.CLIENT, f"the client had not ended after {recording.timeout:g} s"
    if exit_.status and not has_failed:
        return Blame.CLIENT, f"the client exited with status {exit_.status}: {last_line(exit_)}"
    return None


def _unanswered(trace: Trace) -> Exchange | None:
    return next((each for each in trace.all_exchanges if not each.answers and each.method != "ping"), None)


def broken_rules(trace: Trace, side: Blame) -> list[BrokenRule]:
    """Every MUST that one side broke, once."""
    view = trace if side is Blame.SERVER else client_view(trace, trace.header.scenario)
    run = rejudged([suite_named(SUITES[side])], [("", view)])
    rules: dict[str, BrokenRule] = {}
    for finding in _failures(run.cells[0].checks):
        rules.setdefault(finding.requirement, _rule(side, finding))
    return list(rules.values())


def _failures(checks: Sequence[Any]) -> Iterator[Finding]:
    for check in checks:
        if check.verdict is Verdict.FAILURE:
            yield from (finding for finding in check.findings if not finding.follows_from)


def _rule(side: Blame, finding: Finding) -> BrokenRule:
    return BrokenRule(
        side,
        finding.requirement,
        finding.title or finding.statement,
        finding.statement,
        finding.link,
        finding.expected[:LONGEST],
        finding.observed[:LONGEST],
        finding.frames,
    )


def _frames_of(rules: Sequence[BrokenRule]) -> dict[Blame, set[int]]:
    frames: dict[Blame, set[int]] = defaultdict(set)
    for rule in rules:
        frames[rule.blame] |= {*rule.frames}
    return dict(frames)


# Connecting.


def _connected(trace: Trace) -> bool:
    """Whether the client sent anything."""
    return any(
        frame.sender is Sender.DRIVER and frame.kind in (Kind.LINE, Kind.REQUEST) for frame in trace.frames
    )


def _never_connected(recording: Recording) -> PairResult:
    exit_ = recording.exit
    if exit_.stopped:
        reason = f"the client had not connected after {recording.timeout:g} s"
        return PairResult(recording.pair, Status.FAULTY, Blame.CLIENT, reason)
    if exit_.status == 0:
        return PairResult(recording.pair, Status.FAULTY, Blame.CLIENT, "the client never connected")
    reason = f"the client exited with status {exit_.status} before it connected: {last_line(exit_)}"
    return PairResult(recording.pair, Status.NOT_RUN, Blame.CLIENT, reason[:LONGEST])


def _other_revision(trace: Trace, revision: str, spoken: str | None) -> tuple[Blame, str] | None:
    """Who does not support the revision, if they did not speak it."""
    if spoken == revision:
        return None
    offered = {exchange.params.get("protocolVersion") for exchange in trace.exchanges("initialize")}
    offered |= {exchange.meta.get(VERSION_KEY) for exchange in trace.all_exchanges}
    if spoken is None:
        return (Blame.SERVER, f"the server does not support {revision}") if _refused(trace) else None
    if revision in offered:
        return Blame.SERVER, f"the client offered {revision}, and they agreed on {spoken}"
    return Blame.CLIENT, f"the client did not offer {revision}; they agreed on {spoken}"


def _refused(trace: Trace) -> bool:
    """Whether the server named its revisions, without the one that it was asked for."""
    answered = [exchange for exchange in trace.exchanges(*OPENINGS) if exchange.answer is not None]
    return any(
        exchange.code == UNSUPPORTED_VERSION or exchange.items("supportedVersions") for exchange in answered
    )


def _connect(traffic: Traffic, exit_: ClientExit) -> StepResult:
    """The opening, which every client does first."""
    trace = traffic.trace
    openings = list(trace.exchanges(*OPENINGS))
    if trace.revision.opening is Opening.PER_REQUEST:  # any first request will do
        openings += trace.all_exchanges
    good = next((exchange for exchange in openings if exchange.result is not None), None)
    if good is not None:
        return StepResult(CONNECT, StepStatus.OK, frames=[frame.n for frame in good.frames])
    last = openings[-1] if openings else None
    if last is None:
        detail = f"the client sent no {' or '.join(OPENINGS)}: {last_line(exit_)}"
        return StepResult(CONNECT, StepStatus.FAILED, detail[:LONGEST], Blame.CLIENT)
    frames = [frame.n for frame in last.frames]
    is_illegal = bool({*frames} & traffic.broken.get(Blame.CLIENT, set()))
    detail = refusal(last, last_line(exit_))
    blame = Blame.CLIENT if is_illegal else Blame.SERVER
    return StepResult(CONNECT, StepStatus.FAILED, detail[:LONGEST], blame, frames)


# Steps.


def _steps(recording: Recording, traffic: Traffic) -> Iterator[StepResult]:
    words = words_of(recording.exit.stdout)
    for number, step in enumerate(recording.steps):
        yield judge_step(step, words.get(number), traffic, ended_well=recording.exit.status == 0)
    for name, reason in recording.lacking.items():
        yield StepResult(name, StepStatus.UNSUPPORTED, reason)


def words_of(output: bytes) -> dict[int, Word]:
    """What the client said about its steps: lines with a JSON object that has `step` and `ok`."""
    words: dict[int, Word] = {}
    for line in output.splitlines():
        if line.startswith(b"{"):
            try:
                word = msgspec.json.decode(line, type=Word)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
            words[word.step] = word
    return words


def last_line(exit_: ClientExit) -> str:
    return next(reversed(exit_.last_words), "")
