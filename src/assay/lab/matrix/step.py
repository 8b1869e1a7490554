"""Steps of a client, and what the recorded traffic shows of each."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from msgspec import Struct

from assay.lab.harness.trace.trace import Exchange, Trace

from .pair import Blame, Pair, StepResult, StepStatus

CONNECT: Final = "connect"
LONGEST: Final = 300
"""Characters of a detail."""


class Sign(NamedTuple):
    """The request that a step sends, and the parameter that identifies it."""

    method: str
    key: str = ""


KNOWN: Final[dict[str, Sign | None]] = {
    "list_tools": Sign("tools/list"),
    "call_tool": Sign("tools/call", "name"),
    "list_resources": Sign("resources/list"),
    "read_resource": Sign("resources/read", "uri"),
    "list_templates": Sign("resources/templates/list"),
    "list_prompts": Sign("prompts/list"),
    "get_prompt": Sign("prompts/get", "name"),
    "complete": Sign("completion/complete"),
    "subscribe": Sign("resources/subscribe", "uri"),
    "unsubscribe": Sign("resources/unsubscribe", "uri"),
    "set_level": Sign("logging/setLevel"),
    "ping": Sign("ping"),
    "listen": Sign("subscriptions/listen"),
    "wait_for": None,
}
"""The steps of docs/judge-clients.md that need nothing but a server."""


class Step(Struct, frozen=True):
    name: str
    fields: dict[str, Any]
    """As the client gets them: `do`, and its parameters."""
    revisions: tuple[str, ...] = ()
    transports: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, fields: dict[str, Any]) -> Step:
        own = {key: value for key, value in fields.items() if key not in ("revisions", "transports")}
        places = (tuple(map(str, fields.get(key, ()))) for key in ("revisions", "transports"))
        return cls(name, own, *places)

    def applies(self, pair: Pair) -> bool:
        places = ((pair.revision, self.revisions), (pair.transport, self.transports))
        return all(not accepted or value in accepted for value, accepted in places)

    def exchanges(self, trace: Trace) -> list[Exchange] | None:
        """The requests of this step with their answers; None if the step sends none at this revision."""
        sign = KNOWN[self.fields["do"]]
        if sign is None or sign.method not in trace.revision.requests:
            return None
        value = self.fields.get(sign.key)
        return [
            exchange
            for exchange in trace.exchanges(sign.method)
            if not sign.key or exchange.params.get(sign.key) == value
        ]


class Word(Struct, frozen=True):
    """What the client said about a step: `ok` is null if it cannot do it."""

    step: int
    """The position in the list of steps, from 0."""
    ok: bool | None
    detail: str = ""


class Traffic(NamedTuple):
    """The trace, and the frames in which a side broke a rule."""

    trace: Trace
    broken: dict[Blame, set[int]]


def judge_step(step: Step, word: Word | None, traffic: Traffic, *, ended_well: bool) -> StepResult:
    """`ended_well` says whether the client exited with status 0."""
    exchanges = step.exchanges(traffic.trace)
    if word is not None and word.ok is None:
        return _result(step, StepStatus.UNSUPPORTED, word.detail or "the client cannot do this", Blame.NONE)
    if exchanges is None:
        return _unseen(step, word, ended_well=ended_well)
    last = exchanges[-1] if exchanges else None
    if last is not None and last.result is not None:
        if word is None or word.ok:
            return _result(step, StepStatus.OK, "", Blame.NONE, last)
        blame = Blame.SERVER if _breaks(traffic, Blame.SERVER, last) else Blame.CLIENT
        return _result(
            step, StepStatus.FAILED, f"the server answered; the client: {word.detail}", blame, last
        )
    if last is None:
        return _not_sent(step, word, ended_well=ended_well)
    blame = Blame.CLIENT if _breaks(traffic, Blame.CLIENT, last) else Blame.SERVER
    return _result(step, StepStatus.FAILED, refusal(last, word.detail if word else ""), blame, last)


def _unseen(step: Step, word: Word | None, *, ended_well: bool) -> StepResult:
    if word is None:
        status = StepStatus.OK if ended_well else StepStatus.NOT_TRIED
        return _result(step, status, "", Blame.NONE)
    if word.ok:
        return _result(step, StepStatus.OK, word.detail, Blame.NONE)
    return _result(step, StepStatus.FAILED, word.detail, Blame.UNCLEAR)


def _not_sent(step: Step, word: Word | None, *, ended_well: bool) -> StepResult:
    method = KNOWN[step.fields["do"]]
    assert method is not None
    if word is None:
        status = StepStatus.FAILED if ended_well else StepStatus.NOT_TRIED
        blame = Blame.CLIENT if ended_well else Blame.NONE
        return _result(step, status, f"the client sent no {method.method}", blame)
    claim = "although it says that it worked" if word.ok else f": {word.detail}"
    return _result(step, StepStatus.FAILED, f"the client sent no {method.method} {claim}", Blame.CLIENT)


def refusal(exchange: Exchange, detail: str) -> str:
    """How the server did not serve a request, and what the client makes of it."""
    answer = exchange.answer
    if answer is None:
        status = "" if exchange.head is None else f", HTTP {exchange.head.status}"
        claim = f"; the client: {detail}" if detail else ""
        return f"the server did not answer {exchange.method}{status}{claim}"
    message = answer.error.get("message", "")
    return f"the server answered {exchange.method} with error {answer.code}: {message}"


def _breaks(traffic: Traffic, blame: Blame, exchange: Exchange) -> bool:
    return bool({frame.n for frame in exchange.frames} & traffic.broken.get(blame, set()))


def _result(
    step: Step, status: StepStatus, detail: str, blame: Blame, exchange: Exchange | None = None
) -> StepResult:
    frames = [] if exchange is None else [frame.n for frame in exchange.frames]
    return StepResult(step.name, status, detail[:LONGEST], blame, frames)
