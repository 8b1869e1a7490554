"""Lists are read to the end, and used as listed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

from assay.lab.client.altered_message import with_params, within, within_request, without
from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import has_ended
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import (
    EVERY,
    ClientSaboteur,
    behaviour,
    misbehaving,
    on_message,
    on_received,
)
from assay.lab.harness.scripted_client.client import ScriptedClient
from assay.lab.harness.scripted_client.failure import StepFailed
from assay.lab.harness.scripted_server.answer import Answer, AnswerError
from assay.lab.harness.scripted_server.client_script import (
    LIST_TOOLS,
    ClientScript,
    call_tool,
    optional,
    step,
)
from assay.lab.harness.scripted_server.request_cycle import RequestCycle
from assay.lab.harness.scripted_server.stage import ClientStage
from assay.lab.harness.trace.trace import Exchange
from assay.model.error import INVALID_PARAMS
from assay.revisions.revision import Opening

LISTS: Final = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}

# --- what is asked


BARE: Final = "https://example.com"
"""A URI to which some clients add a slash."""
ODD: Final = "memo://Notes/a%20b%c3%bc/../c?x=1&y=%26"
"""A URI that some clients normalize."""
KITCHEN: Final = "memo://rooms/kitchen"
ROOMS: Final = "memo://rooms/{room}"
LETTER: Final = "Letter to Somebody"


def _complete(argument: str, value: str, /, **ref: str) -> Json:
    return step("complete", ref=ref, argument={"name": argument, "value": value})


@client_scenario(
    "Offer resources, prompts and completion with unusual names",
    script=ClientScript(
        steps=(
            step("list_resources"),
            # The server does not know a normalized URI. The check reports that, so the client continues.
            optional(step("read_resource", uri=BARE)),
            optional(step("read_resource", uri=ODD)),
            step("list_templates"),
            step("read_resource", uri=KITCHEN),
            step("list_prompts"),
            step("get_prompt", name=LETTER, arguments={"to": "Ann", "about": "ü"}),
            _complete("about", "o", type="ref/prompt", name=LETTER),
            _complete("room", "k", type="ref/resource", uri=ROOMS),
        ),
        pages=True,
    ),
    exercises=("utilities.as-listed", "utilities.whole-lists"),
)
async def drive_all_used(stage: ClientStage) -> None:
    server = stage.server
    server.page = 2
    for uri in (BARE, ODD):
        server.add_resource(uri)
    server.memory["texts"][KITCHEN] = "warm"
    server.items["resourceTemplates"].append({"uriTemplate": ROOMS, "name": "rooms"})
    for name in ("One", "Two"):
        server.add_prompt(name)
    server.add_prompt(LETTER, arguments=[{"name": "to", "required": True}, {"name": "about"}])
    server.capabilities["completions"] = {}


LAST: Final = "last"
SIZES: Final = (1, 3, 0, 2, 1)
CURSORS: Final = ("b64==", '{"page": 2}', "two words/ü?&", "00010")


@client_scenario(
    "Serve a list in pages of different sizes, with unusual cursors",
    script=ClientScript(steps=(LIST_TOOLS, call_tool(LAST)), pages=True),
    exercises=("utilities.cursors",),
)
async def drive_pages(stage: ClientStage) -> None:
    server = stage.server
    for name in (*(f"tool-{number}" for number in range(1, sum(SIZES))), LAST):
        server.add_tool({"name": name})
    # Only revisions without a handshake say that an empty cursor is valid.
    empty = stage.revision.opening is Opening.PER_REQUEST
    cursors: tuple[str | None, ...] = (None, "" if empty else CURSORS[0], *CURSORS[1:])

    @server.on("tools/list")
    async def pages(cycle: RequestCycle) -> Answer:
        cursor = cycle.params.get("cursor")
        if cursor not in cursors:
            raise AnswerError(INVALID_PARAMS, "no such cursor")
        place = cursors.index(cursor)
        begin = sum(SIZES[:place])
        more = {} if place + 1 == len(cursors) else {"nextCursor": cursors[place + 1]}
        return {"tools": server.items["tools"][begin : begin + SIZES[place]], **more}


# --- how it is judged


class Listed:
    """The items that the server has listed."""

    def __init__(self, trace: Trace) -> None:
        items = {
            key: [item for page in trace.subject_exchanges(method) for item in page.objects(key)]
            for method, key in LISTS.items()
        }
        self.uris = [resource.get("uri") for resource in items["resources"]]
        self.templates = [str(template.get("uriTemplate")) for template in items["resourceTemplates"]]
        self.prompts = {str(prompt.get("name")): prompt for prompt in items["prompts"]}

    def has(self, uri: Any) -> bool:
        return uri in self.uris or any(_matches(template, str(uri)) for template in self.templates)

    def arguments(self, reference: Json) -> list[str]:
        """The arguments of a listed prompt or template."""
        if reference.get("type") == "ref/prompt":
            return _arguments(self.prompts.get(str(reference.get("name")), {}))
        template = str(reference.get("uri"))
        return re.findall(r"{(\w+)}", template) if template in self.templates else []


def _arguments(prompt: Json, *, required: bool = False) -> list[str]:
    arguments = prompt.get("arguments")
    objects = [item for item in (arguments if isinstance(arguments, list) else ()) if isinstance(item, dict)]
    return [str(item.get("name")) for item in objects if item.get("required") or not required]


def _matches(template: str, uri: str) -> bool:
    parts = re.split(r"{\w+}", template)
    return re.fullmatch("[^/]+".join(map(re.escape, parts)), uri) is not None


@check("Resources, prompts and completion are used as listed", requirements=("USE-01", "USE-02", "USE-03"))
def judge_as_listed(trace: Trace) -> Iterator[Observation]:
    listed = Listed(trace)
    for read in trace.subject_exchanges("resources/read") if listed.uris or listed.templates else ():
        uri = read.params.get("uri")
        expected = "a listed URI, or one that matches a template"
        yield observe("USE-01", listed.has(uri), read, expected=expected, observed=f"{uri!r}")
    for request in trace.subject_exchanges("prompts/get") if listed.prompts else ():
        name, arguments = request.params.get("name"), request.params.get("arguments")
        prompt = listed.prompts.get(str(name))
        required = set(_arguments(prompt or {}, required=True))
        missing = sorted(required - set(arguments if isinstance(arguments, dict) else ()))
        expected = "the name of a listed prompt, with its required arguments"
        observed = f"{name!r} without {missing}" if prompt else f"{name!r}"
        holds = prompt is not None and not missing
        yield observe("USE-02", holds, request, expected=expected, observed=observed)
    for request in (
        trace.subject_exchanges("completion/complete") if listed.prompts and listed.templates else ()
    ):
        reference, argument = request.params.get("ref"), request.params.get("argument")
        name = argument.get("name") if isinstance(argument, dict) else None
        holds = name in listed.arguments(reference if isinstance(reference, dict) else {})
        expected, observed = "an argument of a listed prompt or template", f"{name!r} of {reference}"
        yield observe("USE-03", holds, request, expected=expected, observed=observed)


@check("Lists are read to their end, and no further", requirements=("PAG-04", "PAG-05", "PR-13"))
def judge_whole_lists(trace: Trace) -> Iterator[Observation]:
    for method in list(LISTS)[1:]:  # all but tools
        requests = list(trace.subject_exchanges(method))
        pages = [request for request in requests if request.result is not None]
        for page in pages:
            yield from _judge_following(page, requests, trace)
        for page in pages[-1:]:
            later = [
                other for other in trace.subject_exchanges() if other.request.frame.n > page.request.frame.n
            ][:1]
            if later or has_ended(trace):
                expected, observed = "the client to continue after the list", "it did not"
                yield observe("PAG-05", bool(later), page, *later, expected=expected, observed=observed)


def _judge_following(page: Exchange, requests: list[Exchange], trace: Trace) -> Iterator[Observation]:
    cursor = _next_cursor(page)
    if cursor is None:
        # A list may be read again, from its start or with cursors of earlier pages.
        known = (None, *map(_next_cursor, requests))
        later = (request for request in requests if request.request.frame.n > page.request.frame.n)
        past = [request for request in later if request.params.get("cursor") not in known][:1]
        expected, observed = "no page after the last one", "another one was requested"
        yield observe("PAG-04", not past, page, *past, expected=expected, observed=observed)
    elif page.method == "prompts/list":
        following = [request for request in requests if request.params.get("cursor") == cursor][:1]
        if following or has_ended(trace):
            expected, observed = "the next page of prompts", "no request for it"
            yield observe("PR-13", bool(following), page, *following, expected=expected, observed=observed)


def _next_cursor(page: Exchange) -> Any:
    return (page.result or {}).get("nextCursor")


@check("Cursors are sent back unchanged", requirements=("PAG-01", "PAG-06", "PAG-08"))
def judge_cursors(trace: Trace) -> Iterator[Observation]:
    for method in LISTS:
        pages = list(trace.subject_exchanges(method))
        issued: list[Any] = []
        # A client that reads the first page only assumes no size.
        reads_on = any("cursor" in page.params for page in pages)
        for place, page in enumerate(pages):
            if "cursor" in page.params:
                cursor = page.params["cursor"]
                expected, holds = "a cursor of the server, unchanged", cursor in issued
                yield observe("PAG-06", holds, page, expected=expected, observed=f"cursor {cursor!r}")
            cursor = _next_cursor(page)
            issued.append(cursor)
            if not isinstance(cursor, str):
                continue
            following = [later for later in pages[place + 1 :] if later.params.get("cursor") == cursor][:1]
            if following or (has_ended(trace) and (reads_on or not cursor)):
                requirement, holds = "PAG-01" if cursor else "PAG-08", bool(following)
                expected = f"a request with the cursor {cursor!r}"
                yield observe(requirement, holds, page, *following, expected=expected, observed="none")


# --- what the checks must catch


def _alters(
    name: str, fault: str, breaks: str, method: str, path: tuple[str, ...], change: Callable[[Json], Json]
) -> ClientSaboteur:
    """A client that changes its requests with this method."""
    return on_message(fault, id=f"utilities.{name}", breaks=breaks)(
        lambda message, client: within_request(message, method, path, change)
    )


ALTERED: Final = (
    _alters(
        "uri-tidied",
        "adds a slash to a URI before it reads it",
        "USE-01",
        "resources/read",
        ("params",),
        lambda params: {**params, "uri": f"{params['uri']}/"},
    ),
    _alters(
        "prompt-in-small-letters",
        "writes the name of a prompt in lower case",
        "USE-02",
        "prompts/get",
        ("params",),
        lambda params: {**params, "name": params["name"].lower()},
    ),
    _alters(
        "prompt-without-arguments",
        "omits a required argument of a prompt",
        "USE-02",
        "prompts/get",
        ("params", "arguments"),
        lambda arguments: without(arguments, "to"),
    ),
    _alters(
        "completion-of-nothing",
        "requests completion for an unlisted argument",
        "USE-03",
        "completion/complete",
        ("params", "argument"),
        lambda argument: {**argument, "name": "name"},
    ),
)


@misbehaving("requests a page after the last one", breaks="PAG-04", scenario="utilities.all-used")
async def reads_past_the_end(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps([step("list_prompts")])
    with suppress(StepFailed):
        await client.request("prompts/list", {"cursor": "at:4"})


@misbehaving("exits because of a list with one page", breaks="PAG-05", scenario="utilities.all-used")
async def needs_pages(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps(client.context["steps"][:1])
    raise StepFailed("the list has no cursor")


def _without_cursor(message: Json) -> Json:
    return within(message, ("result",), lambda result: without(result, "nextCursor"))


@on_received("takes a page that is shorter than another as the last one", breaks="PAG-01")
def short_page_last(message: Json, client: ScriptedClient) -> Json:
    result = message.get("result")
    if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
        return message
    size = len(result["tools"])
    longest = client.memory.setdefault("longest", size)
    client.memory["longest"] = max(longest, size)
    return message if size >= longest else _without_cursor(message)


@on_message("changes a cursor before it sends it back", breaks="PAG-06")
def cursor_altered(message: Json, client: ScriptedClient) -> Json:
    params = message.get("params")
    if not isinstance(params, dict) or not isinstance(params.get("cursor"), str):
        return message
    return with_params(message, cursor=params["cursor"].strip("=") + "0")


@on_received("takes an empty cursor as the end of the list", breaks="PAG-08")
def empty_cursor_last(message: Json, client: ScriptedClient) -> Json:
    result = message.get("result")
    ends = isinstance(result, dict) and result.get("nextCursor") == ""
    return _without_cursor(message) if ends else message


BEHAVIOURS: Final = (
    behaviour(
        "utilities.first-page-of-prompts",
        "reads only the first page of prompts",
        breaks="PR-13",
        scenario="utilities.all-used",
        transports=EVERY,
        follows_pages=False,
    ),
)
