"""Elicitation: forms and URLs that a server presents to the user."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from assay.lab.client.altered_message import is_call, with_params, within
from assay.lab.client.canary import CANARY
from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import AFTER, INITIALIZE, calls_at, has_ended, observe_continued
from assay.lab.client.question import FORM, questions
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.sabotage.client_saboteur import on_message, on_received
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import StepFailed
from assay.lab.harness.scripted_server.answer import Answer
from assay.lab.harness.scripted_server.client_script import LIST_TOOLS, ClientScript, call_tool
from assay.lab.harness.scripted_server.http_reply import HttpReply
from assay.lab.harness.scripted_server.http_server import InboundRequest
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.message import Message

from .asking_tool import A_FORM, add_asking_tool, behaves, call_asking_tool

# --- what is asked


async def _present_form(stage: ClientStage) -> None:
    add_asking_tool(stage.server, A_FORM)


FORMS: Final = tuple(
    client_scenario(
        f"Present a form that the user {action}s",
        id=f"asking.form-{past}",
        script=call_asking_tool("elicitation", elicitation=action),
        exercises=("asking.declared", "asking.modes"),
        window=lambda revision: bool(revision.elicitation),
    )(_present_form)
    for action, past in (("accept", "accepted"), ("cancel", "cancelled"), ("decline", "declined"))
)


@client_scenario(
    "Present a URL that the user declines",
    script=call_asking_tool("elicitation", "elicitation.url", elicitation="decline"),
    exercises=("asking.address", "asking.declared"),
    window=lambda revision: "url" in revision.elicitation,
)
async def drive_url_declined(stage: ClientStage) -> None:
    async def sign_in(request: InboundRequest, reply: HttpReply) -> None:
        await reply.respond(200, b"<title>Sign in</title>", [("Content-Type", "text/html")])

    origin = await stage.add_server(CANARY, sign_in)
    params = {"mode": "url", "message": "Sign in", "url": f"{origin}/sign-in"}
    if stage.revision.elicitation_ids:
        params["elicitationId"] = "one"
    add_asking_tool(stage.server, (FORM, params))


@client_scenario(
    "Announce the completion of an unknown elicitation",
    script=ClientScript(steps=(LIST_TOOLS, call_tool("announcing"), call_tool(AFTER))),
    exercises=("asking.unknown-completion",),
    window=lambda revision: "url" in revision.elicitation and revision.elicitation_ids,
)
async def drive_unknown_completion(stage: ClientStage) -> None:
    async def announce(cycle: RequestCycle) -> Answer:
        await cycle.notify("notifications/elicitation/complete", {"elicitationId": "never heard of"})
        return {"content": []}

    stage.server.add_tool({"name": "announcing"}, announce)
    stage.server.add_tool({"name": AFTER})


# --- how it is judged


@check(
    "The completion of an unknown elicitation is ignored",
    requirements={"EL-18": "The client stopped at the completion of an unknown elicitation"},
)
def judge_unknown_completion(trace: Trace) -> Iterator[Observation]:
    expected = "the client to ignore the notification and continue"
    return observe_continued("EL-18", trace, "announcing", expected)


@check(
    "A URL is not opened without the user's consent",
    requirements={
        "EL-33": "A URL was fetched before the user agreed",
        "EL-34": "A URL was opened that the user had declined",
    },
)
def judge_address(trace: Trace) -> Iterator[Observation]:
    for question in questions(trace, FORM):
        declined = (question.result or {}).get("action") in ("decline", "cancel")
        if question.params.get("mode") != "url" or question.answer is None or not declined:
            continue
        moment = question.answer.frame.n
        calls = calls_at(trace, CANARY)
        before = [call for call in calls if call.request.n < moment]
        after = [call for call in calls if call.request.n > moment]
        expected, observed = "no request to the declined URL", f"{len(calls)} requests"
        yield observe("EL-33", not before, question, *before[:1], expected=expected, observed=observed)
        yield observe("EL-34", not after, question, *after[:1], expected=expected, observed=observed)


ACTIONS: Final = ("accept", "decline", "cancel")


@check(
    "A client that declares elicitation supports a mode",
    requirements={
        "EL-02": "Elicitation is declared without a known mode",
        "EL-05": "A request without `mode` was not treated as a form",
    },
    everywhere=True,
)
def judge_modes(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        declared = _declared(message)
        if isinstance(declared, dict) and "elicitation" in declared:
            capability = declared["elicitation"]
            modes = capability if isinstance(capability, dict) else {"?": None}
            holds = not modes or any(isinstance(modes.get(mode), dict) for mode in ("form", "url"))
            expected = "`form`, `url`, or an empty object"
            yield observe("EL-02", holds, message, expected=expected, observed=f"{capability}")
    for question in questions(trace, FORM):
        pending = question.answer is None and not has_ended(trace)
        if "mode" not in question.params and not pending and _supports_forms(question.capability):
            action = (question.result or {}).get("action")
            otherwise = f"error {question.code}" if question.code else "no answer"
            observed = f"action {action!r}" if question.result else otherwise
            holds = action in ACTIONS
            yield observe("EL-05", holds, question, expected="an answer to a form", observed=observed)


def _declared(message: Message) -> Any:
    if message.method == INITIALIZE:
        return message.params.get("capabilities")
    return message.meta.get(CAPABILITIES_KEY)


def _supports_forms(capability: Any) -> bool:
    return isinstance(capability, dict) and (not capability or "form" in capability)


# --- what the checks must catch


@on_message(
    "fails when an unknown elicitation is completed", breaks="EL-18", scenario="asking.unknown-completion"
)
def completion_ends_it(message: Json, client: ScriptedClient) -> Json:
    if is_call(message, AFTER):
        raise StepFailed("an unknown elicitation was completed")
    return message


@on_received("rejects a form request without `mode`", breaks="EL-05", scenario="asking.form-accepted")
def unsaid_mode_refused(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") == FORM:
        return with_params(message, mode="?")
    return within(
        message,
        ("result", "inputRequests", "question-1", "params"),
        lambda params: {**params, "mode": "?"} if "requestedSchema" in params else params,
    )


BEHAVIOURS: Final = (
    behaves(
        "url-declined", "address-prefetched", "fetches a URL before consent", "EL-33", previews_addresses=True
    ),
    behaves(
        "url-declined", "address-opened", "opens a URL that the user declined", "EL-34", opens_declined=True
    ),
    behaves(
        "form-accepted",
        "no-mode",
        "declares elicitation with an unknown mode",
        "EL-02",
        declares={"elicitation": {"hologram": {}}},
    ),
)
