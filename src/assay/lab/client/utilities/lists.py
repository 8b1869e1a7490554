"""Lists are read to the end, and used as listed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from assay.lab.client.altered_message import within, without
from assay.lab.client.declaration import client_scenario
from assay.lab.client.evidence import has_ended
from assay.lab.harness import Json, Observation, Trace, check, observe
from assay.lab.harness.sabotage.client_saboteur import EVERY, behaviour, misbehaving, on_message, on_received
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

# --- what is asked


BARE: Final = "https://example.com"
"""Some would write a slash after it."""
ODD: Final = "memo://Notes/a%20b%c3%bc/../c?x=1&y=%26"
"""Some would write it in another way that means the same to them."""
KITCHEN: Final = "memo://rooms/kitchen"
ROOMS: Final = "memo://rooms/{room}"
LETTER: Final = "Letter to Somebody"
PAGE: Final = 2


@client_scenario(
    "Resources, prompts and completion are used as they were listed",
    script=ClientScript(
        steps=(
            step("list_resources"),
            # Under a tidied URI nothing is found: that is for the check to tell, and no reason to end.
            optional(step("read_resource", uri=BARE)),
            optional(step("read_resource", uri=ODD)),
            step("list_templates"),
            step("read_resource", uri=KITCHEN),
            step("list_prompts"),
            step("get_prompt", name=LETTER, arguments={"to": "Ann", "about": "ü"}),
            step(
                "complete",
                ref={"type": "ref/prompt", "name": LETTER},
                argument={"name": "about", "value": "o"},
            ),
            step(
                "complete",
                ref={"type": "ref/resource", "uri": ROOMS},
                argument={"name": "room", "value": "k"},
            ),
        )
    ),
    exercises=("utilities.as-listed", "utilities.whole-lists"),
)
async def drive_all_used(stage: ClientStage) -> None:
    server = stage.server
    server.page = PAGE
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
    "A list is read to its end, whatever its pages are like",
    script=ClientScript(steps=(LIST_TOOLS, call_tool(LAST))),
    exercises=("utilities.cursors",),
)
async def drive_pages(stage: ClientStage) -> None:
    server = stage.server
    names = [*(f"tool-{number}" for number in range(1, sum(SIZES))), LAST]
    for name in names:
        server.add_tool({"name": name})
    # An empty cursor is one, too, in the revisions that say so.
    empty = stage.revision.opening is Opening.PER_REQUEST
    cursors: tuple[str | None, ...] = (None, *(("",) if empty else CURSORS[:1]), *CURSORS[1:])

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


RESOURCE, PROMPT, COMPLETION = "USE-01", "USE-02", "USE-03"
_LISTS: Final = {
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
AsListedJson = dict[str, Any]


class Listed:
    """All that the server has listed."""

    def __init__(self, trace: Trace) -> None:
        found = {key: _items(trace, method, key) for method, key in _LISTS.items()}
        self.uris = [one.get("uri") for one in found["resources"]]
        self.templates = [str(one.get("uriTemplate")) for one in found["resourceTemplates"]]
        self.prompts = {str(one.get("name")): one for one in found["prompts"]}

    def has(self, uri: Any) -> bool:
        return uri in self.uris or any(_fits(one, str(uri)) for one in self.templates)

    def arguments(self, reference: AsListedJson) -> list[str]:
        """Of what it refers to; none where that was not listed."""
        if reference.get("type") == "ref/prompt":
            return _arguments(self.prompts.get(str(reference.get("name")), {}))
        template = str(reference.get("uri"))
        return re.findall(r"{(\w+)}", template) if template in self.templates else []


@check("What was listed is asked for as it was listed", requirements=(RESOURCE, PROMPT, COMPLETION))
def judge_as_listed(trace: Trace) -> Iterator[Observation]:
    listed = Listed(trace)
    if listed.uris or listed.templates:
        for one in trace.subject_exchanges("resources/read"):
            uri = one.params.get("uri")
            expected = "a URI as it was listed, or by a template"
            yield observe(RESOURCE, listed.has(uri), one, expected=expected, observed=f"{uri!r}")
    if listed.prompts:
        for one in trace.subject_exchanges("prompts/get"):
            yield _prompt(one, listed)
    if listed.prompts and listed.templates:
        for one in trace.subject_exchanges("completion/complete"):
            yield _completion(one, listed)


def _prompt(one: Exchange, listed: Listed) -> Observation:
    prompt = listed.prompts.get(str(one.params.get("name")))
    given = one.params.get("arguments")
    missing = sorted(
        set(_arguments(prompt or {}, required=True)) - set(given if isinstance(given, dict) else ())
    )
    expected = "the name of a prompt as it was listed, and what that requires"
    observed = f"{one.params.get('name')!r} without {missing}" if prompt else f"{one.params.get('name')!r}"
    return observe(PROMPT, prompt is not None and not missing, one, expected=expected, observed=observed)


def _completion(one: Exchange, listed: Listed) -> Observation:
    reference, argument = one.params.get("ref"), one.params.get("argument")
    known = listed.arguments(reference if isinstance(reference, dict) else {})
    name = argument.get("name") if isinstance(argument, dict) else None
    expected, observed = "an argument of something that was listed", f"{name!r} of {reference}"
    return observe(COMPLETION, name in known, one, expected=expected, observed=observed)


def _items(trace: Trace, method: str, key: str) -> list[AsListedJson]:
    return [item for page in trace.subject_exchanges(method) for item in page.objects(key)]


def _arguments(prompt: AsListedJson, *, required: bool = False) -> list[str]:
    told = prompt.get("arguments")
    found = [one for one in (told if isinstance(told, list) else ()) if isinstance(one, dict)]
    return [str(one.get("name")) for one in found if one.get("required") or not required]


def _fits(template: str, uri: str) -> bool:
    parts = re.split(r"{\w+}", template)
    return re.fullmatch("[^/]+".join(map(re.escape, parts)), uri) is not None


END, BOTH, PROMPTS = "PAG-04", "PAG-05", "PR-13"
PROMPT_LIST: Final = "prompts/list"
LISTS: Final = ("resources/list", "resources/templates/list", PROMPT_LIST)


@check("Lists are read to their end, and no further", requirements=(END, BOTH, PROMPTS))
def judge_whole_lists(trace: Trace) -> Iterator[Observation]:
    for method in LISTS:
        asked = list(trace.subject_exchanges(method))
        pages = [one for one in asked if one.result is not None]
        for page in pages:
            yield from _end(page, asked) if _next(page) is None else _more(page, asked, trace)
        if pages:
            yield from _went_on(pages[-1], trace)


def _end(page: Exchange, pages: list[Exchange]) -> Iterator[Observation]:
    """Nothing follows the last page but what is read again, under cursors that were given."""
    given = [_next(one) for one in pages]
    later = [one for one in pages if one.request.frame.n > page.request.frame.n]
    past = [one for one in later if one.params.get("cursor") not in (None, *given)]
    expected, observed = "no page after the last one", "one more was asked for"
    yield observe(END, not past, page, *past[:1], expected=expected, observed=observed)


def _more(page: Exchange, pages: list[Exchange], trace: Trace) -> Iterator[Observation]:
    later = [one for one in pages if one.params.get("cursor") == _next(page)]
    if page.method == PROMPT_LIST and (later or has_ended(trace)):
        expected, observed = "the next page of prompts", "nobody asked for it"
        yield observe(PROMPTS, bool(later), page, *later[:1], expected=expected, observed=observed)


def _went_on(page: Exchange, trace: Trace) -> Iterator[Observation]:
    """Whether a list that was read was of use: something else is asked for then."""
    later = [one for one in trace.subject_exchanges() if one.request.frame.n > page.request.frame.n]
    if later or has_ended(trace):
        expected, observed = "the client to go on with what it has read", "it did not"
        yield observe(BOTH, bool(later), page, *later[:1], expected=expected, observed=observed)


def _next(page: Exchange) -> object:
    return (page.result or {}).get("nextCursor")


SIZE, OPAQUE, EMPTY = "PAG-01", "PAG-06", "PAG-08"
CURSORS_LISTS = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")


@check("Pages are followed by their cursors, as they are", requirements=(SIZE, OPAQUE, EMPTY))
def judge_cursors(trace: Trace) -> Iterator[Observation]:
    for method in CURSORS_LISTS:
        pages = list(trace.subject_exchanges(method))
        yield from _followed(pages, trace)
        yield from _known(pages)


def _followed(pages: list[Exchange], trace: Trace) -> Iterator[Observation]:
    for page in pages:
        cursor = _cursors_next(page)
        if cursor is None:
            continue
        later = [one for one in pages if one.request.frame.n > page.request.frame.n]
        next_page = next((one for one in later if one.params.get("cursor") == cursor), None)
        if next_page is None and not has_ended(trace):
            continue
        row = SIZE if cursor else EMPTY
        seen = [] if next_page is None else [next_page]
        expected = f"a request with the cursor {cursor!r}"
        yield observe(row, next_page is not None, page, *seen, expected=expected, observed="none such")


def _known(pages: list[Exchange]) -> Iterator[Observation]:
    given: list[Any] = []
    for page in pages:
        if "cursor" in page.params:
            cursor = page.params["cursor"]
            expected = "a cursor as the server gave it"
            yield observe(OPAQUE, cursor in given, page, expected=expected, observed=f"cursor {cursor!r}")
        given.append(_cursors_next(page))


def _cursors_next(page: Exchange) -> str | None:
    cursor = (page.result or {}).get("nextCursor")
    return cursor if isinstance(cursor, str) else None


# --- what the checks must catch


@on_message("a URI gets a slash at its end before it is read", breaks="USE-01")
def uri_tidied(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "resources/read":
        return message
    return within(message, ("params",), lambda fields: {**fields, "uri": f"{fields['uri']}/"})


@on_message("the name of a prompt is written in small letters", breaks="USE-02")
def prompt_in_small_letters(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "prompts/get":
        return message
    return within(message, ("params",), lambda fields: {**fields, "name": fields["name"].lower()})


@on_message("a required argument of a prompt is left out", breaks="USE-02")
def prompt_without_arguments(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "prompts/get":
        return message
    return within(message, ("params", "arguments"), lambda fields: without(fields, "to"))


@on_message("completion is asked for an argument that was not listed", breaks="USE-03")
def completion_of_nothing(message: Json, client: ScriptedClient) -> Json:
    if message.get("method") != "completion/complete":
        return message
    return within(message, ("params", "argument"), lambda fields: {**fields, "name": "name"})


@misbehaving("a page is asked for after the last one", breaks="PAG-04", scenario="utilities.all-used")
async def reads_past_the_end(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps([step("list_prompts")])
    with suppress(StepFailed):
        await client.request("prompts/list", {"cursor": "at:4"})


@misbehaving("a list on one page ends the client", breaks="PAG-05", scenario="utilities.all-used")
async def needs_pages(client: ScriptedClient) -> None:
    await client.open()
    await client.run_steps(client.context["steps"][:1])
    raise StepFailed("there is no cursor")


@on_received("a page with less on it than another is taken for the last", breaks="PAG-01")
def short_page_last(message: Json, client: ScriptedClient) -> Json:
    result = message.get("result")
    if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
        return message
    tools = result["tools"]
    most = client.memory.setdefault("most", len(tools))
    client.memory["most"] = max(most, len(tools))
    if len(tools) >= most:
        return message
    return {**message, "result": {key: value for key, value in result.items() if key != "nextCursor"}}


@on_message("a cursor is changed before it is sent back", breaks="PAG-06")
def cursor_altered(message: Json, client: ScriptedClient) -> Json:
    params = message.get("params")
    if not isinstance(params, dict) or not isinstance(params.get("cursor"), str):
        return message
    return {**message, "params": {**params, "cursor": params["cursor"].strip("=") + "0"}}


@on_received("an empty cursor is taken for the end of the list", breaks="PAG-08")
def empty_cursor_last(message: Json, client: ScriptedClient) -> Json:
    result = message.get("result")
    if isinstance(result, dict) and result.get("nextCursor") == "":
        return {**message, "result": {key: value for key, value in result.items() if key != "nextCursor"}}
    return message


BEHAVIOURS: Final = (
    behaviour(
        "utilities.first-page-of-prompts",
        "only the first page of prompts is read",
        breaks="PR-13",
        scenario="utilities.all-used",
        transports=EVERY,
        follows_pages=False,
    ),
)
