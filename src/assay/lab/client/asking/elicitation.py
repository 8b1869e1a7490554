"""Elicitation: forms and URLs that a server asks a user for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.client.altered_message import is_call, within
from assay.lab.client.canary import CANARY
from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, INITIALIZE, calls_at, has_ended, observe_continued
from assay.lab.client.question import FORM, questions
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour, on_hearing, on_message
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import Failed
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.brief import LIST_TOOLS, Brief, call_tool
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import Asked
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.message import Message

from .asking_tool import A_FORM, add_asking

# --- what is asked


@client_scenario(
    "A form is filled in",
    brief=Brief(
        steps=(LIST_TOOLS, call_tool("asking")),
        capabilities=("elicitation",),
        answers={"elicitation": "accept"},
    ),
    exercises=("asking.declared", "asking.modes"),
    window=lambda revision: bool(revision.elicitation),
)
async def drive_form_accepted(stage: ClientStage) -> None:
    add_asking(stage.host, "asking", A_FORM)


@client_scenario(
    "A form is closed",
    brief=Brief(
        steps=(LIST_TOOLS, call_tool("asking")),
        capabilities=("elicitation",),
        answers={"elicitation": "cancel"},
    ),
    exercises=("asking.declared", "asking.modes"),
    window=lambda revision: bool(revision.elicitation),
)
async def drive_form_cancelled(stage: ClientStage) -> None:
    add_asking(stage.host, "asking", A_FORM)


@client_scenario(
    "A form is declined",
    brief=Brief(
        steps=(LIST_TOOLS, call_tool("asking")),
        capabilities=("elicitation",),
        answers={"elicitation": "decline"},
    ),
    exercises=("asking.declared", "asking.modes"),
    window=lambda revision: bool(revision.elicitation),
)
async def drive_form_declined(stage: ClientStage) -> None:
    add_asking(stage.host, "asking", A_FORM)


@client_scenario(
    "An address that the user declines is not opened",
    brief=Brief(
        steps=(LIST_TOOLS, call_tool("asking")),
        capabilities=("elicitation", "elicitation.url"),
        answers={"elicitation": "decline"},
    ),
    exercises=("asking.address", "asking.declared"),
    window=lambda revision: "url" in revision.elicitation,
)
async def drive_url_declined(stage: ClientStage) -> None:
    async def sing(asked: Asked, reply: HttpReply) -> None:
        await reply.whole(200, b"<title>Sign in</title>", [("Content-Type", "text/html")])

    origin = await stage.room(CANARY, sing)
    named = {"elicitationId": "one"} if stage.revision.elicitation_ids else {}
    about = {"mode": "url", "message": "Sign in", "url": f"{origin}/sign-in", **named}
    add_asking(stage.host, "asking", (FORM, about))


@client_scenario(
    "The end of an unknown elicitation is ignored",
    brief=Brief(steps=(LIST_TOOLS, call_tool("announcing"), call_tool(AFTER))),
    exercises=("asking.unknown-completion",),
    window=lambda revision: "url" in revision.elicitation and revision.elicitation_ids,
)
async def drive_unknown_completion(stage: ClientStage) -> None:
    async def announce(cycle: RequestCycle) -> Answer:
        await cycle.notify("notifications/elicitation/complete", {"elicitationId": "never heard of"})
        return {"content": []}

    stage.host.add_tool({"name": "announcing"}, announce)
    stage.host.add_tool({"name": AFTER})


# --- how it is judged


ROW = "EL-18"


@check("The end of an unknown elicitation is ignored", requirements=(ROW,))
def judge_unknown_completion(trace: Trace) -> Iterator[Observation]:
    return observe_continued(
        ROW, trace, "announcing", "the client to go on after a notification that means nothing to it"
    )


EARLY, UNWANTED = "EL-33", "EL-34"


@check("An address is not visited before its user agrees", requirements=(EARLY, UNWANTED))
def judge_address(trace: Trace) -> Iterator[Observation]:
    for one in questions(trace, FORM):
        declined = (one.result or {}).get("action") in ("decline", "cancel")
        if one.params.get("mode") != "url" or one.answer is None or not declined:
            continue
        moment = one.answer.frame.n
        came = calls_at(trace, CANARY)
        before = [call for call in came if call.request.n < moment]
        after = [call for call in came if call.request.n > moment]
        expected = "nobody at the address that was declined"
        observed = f"{len(came)} requests"
        yield observe(EARLY, not before, one, *before[:1], expected=expected, observed=observed)
        yield observe(UNWANTED, not after, one, *after[:1], expected=expected, observed=observed)


SOME, UNSAID = "EL-02", "EL-05"
ACTIONS = ("accept", "decline", "cancel")


@check("A client that has elicitation has a mode of it", requirements=(SOME, UNSAID), everywhere=True)
def judge_modes(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        declared = _declared(message)
        if isinstance(declared, dict) and "elicitation" in declared:
            said = declared["elicitation"]
            modes = said if isinstance(said, dict) else {"?": None}
            holds = not modes or any(isinstance(modes.get(mode), dict) for mode in ("form", "url"))
            yield observe(SOME, holds, message, expected="`form`, `url`, or nothing", observed=f"{said}")
    for one in questions(trace, FORM):
        silent = one.answer is None and not has_ended(trace)
        if "mode" not in one.params and not silent and _has_forms(one.capability):
            action = (one.result or {}).get("action")
            holds = action in ACTIONS
            instead = f"error {one.code}" if one.code else "no answer"
            observed = f"action {action!r}" if one.result else instead
            yield observe(UNSAID, holds, one, expected="an answer to a form", observed=observed)


def _declared(message: Message) -> Any:
    if message.method == INITIALIZE:
        return message.params.get("capabilities")
    meta = message.params.get("_meta")
    return meta.get(CAPABILITIES_KEY) if isinstance(meta, dict) else None


def _has_forms(capability: Any) -> bool:
    return isinstance(capability, dict) and (not capability or "form" in capability)


# --- what the checks must catch


@on_message(
    "the end of an unknown elicitation ends the client", breaks="EL-18", scenario="asking.unknown-completion"
)
def completion_ends_it(message: Json, client: ScriptedClient) -> Json:
    if is_call(message, "after"):
        raise Failed("the end of an unknown elicitation was announced")
    return message


@on_hearing(
    "a form that does not say that it is one is refused", breaks="EL-05", scenario="asking.form-accepted"
)
def unsaid_mode_refused(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") == FORM:
        return {**message, "params": {**message["params"], "mode": "?"}}
    return within(message, ("result", "inputRequests", "question-1", "params"), _odd)


def _odd(params: Json) -> Json:
    return {**params, "mode": "?"} if "requestedSchema" in params else params


BEHAVIOURS: Final = (
    behaviour(
        "asking.address-prefetched",
        "an address is visited before the user agrees",
        breaks="EL-33",
        scenario="asking.url-declined",
        previews_addresses=True,
        transports=EVERY,
    ),
    behaviour(
        "asking.address-opened",
        "an address is visited that was declined",
        breaks="EL-34",
        scenario="asking.url-declined",
        opens_declined=True,
        transports=EVERY,
    ),
    behaviour(
        "asking.no-mode",
        "elicitation is declared with a mode that does not exist",
        breaks="EL-02",
        scenario="asking.form-accepted",
        declares={"elicitation": {"hologram": {}}},
        transports=EVERY,
    ),
)
