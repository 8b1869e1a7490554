"""Apps of any server: links of tools to pages, the pages, and their metadata."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator
from typing import Any, Final

from assay.lab.harness import (
    FaultContext,
    Json,
    Observation,
    Stage,
    Trace,
    check,
    edited_results,
    error_reply,
    observe,
    on_reply,
    on_result,
    scenario,
)
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.need import Need
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.trace.trace import Exchange
from assay.lab.suite.evidence import answered, no_faults
from assay.lab.suite.self_description import as_object
from assay.lab.suite.skills.entries import has_extensions
from assay.model.error import INVALID_PARAMS
from assay.revisions.revision import Opening

# --- what is asked


APPS: Final = "io.modelcontextprotocol/ui"
MIME_TYPE: Final = "text/html;profile=mcp-app"
DECLARED: Final[dict[str, Any]] = {APPS: {"mimeTypes": [MIME_TYPE]}}
MOST: Final = 5


def link_of(tool: dict[str, Any]) -> dict[str, Any]:
    """What a tool says about its page; the flat key is that of an earlier text."""
    meta = as_object(tool.get("_meta"))
    flat = meta.get("ui/resourceUri")
    return as_object(meta.get("ui")) or ({} if flat is None else {"resourceUri": flat})


def _has_pages(facts: Facts) -> bool:
    return facts.declares("extensions", APPS) or any(map(link_of, facts.tools))


HAS_PAGES: Final = Need(_has_pages, f"neither declares `extensions.{APPS}` nor links a tool to a page")


@scenario(
    "List tools with pages, as clients that do and do not show them, and read the pages",
    exercises=("apps.links", "apps.documents", "apps.metadata", "apps.text-only"),
    needs=(HAS_PAGES,),
    window=has_extensions,
)
async def drive_pages(stage: Stage) -> None:
    peer = await stage.open(extensions=DECLARED)
    if stage.revision.opening is Opening.PER_REQUEST:
        await peer.request("server/discover")
    linked = [as_object(tool) for tool in await peer.pages("tools/list", "tools")]
    linked = [tool for tool in linked if "resourceUri" in link_of(tool)]
    uris = dict.fromkeys(str(link_of(tool)["resourceUri"]) for tool in linked)
    for uri in list(uris)[:MOST]:
        await peer.request("resources/read", {"uri": uri})
    names = [tool.get("name") for tool in linked]
    for tool in [tool for tool in stage.facts.quick_tools if tool.get("name") in names][:MOST]:
        await peer.call(tool, stage.facts.arguments_for(tool))
    other = await stage.open()
    await other.pages("tools/list", "tools")


# --- how it is judged


def _shows_pages(trace: Trace, exchange: Exchange) -> bool:
    """Whether the client of a request has declared that it shows pages."""
    meta = as_object(exchange.meta.get(CAPABILITIES_KEY))
    connection = exchange.request.frame.connection
    for opening in trace.exchanges("initialize"):
        if opening.request.frame.connection == connection:
            meta = as_object(opening.params.get("capabilities"))
    settings = as_object(as_object(meta.get("extensions")).get(APPS))
    return MIME_TYPE in (settings.get("mimeTypes") or [])


def _links(trace: Trace) -> Iterator[tuple[Exchange, dict[str, Any], dict[str, Any]]]:
    """Each listed tool with a link, with its page of the list."""
    for exchange in answered(trace, "tools/list"):
        for tool in exchange.objects("tools"):
            if "resourceUri" in link_of(tool):
                yield exchange, tool, link_of(tool)


@check(
    "Tools are linked to pages that exist, for clients that show them",
    requirements={
        "XA-02": "The URI of a page does not begin with ui://",
        "XA-04": "A tool names a page that does not exist",
        "XA-05": "A tool is linked to a page for a client that shows none",
    },
)
def judge_links(trace: Trace) -> Iterator[Observation]:
    read = {exchange.params.get("uri"): exchange for exchange in answered(trace, "resources/read")}
    for exchange in answered(trace, "tools/list"):
        if not _shows_pages(trace, exchange):
            linked = [str(tool.get("name")) for tool in exchange.objects("tools") if link_of(tool)]
            expected = "no `_meta.ui`, because the client does not declare it"
            yield observe("XA-05", not linked, exchange, expected=expected, observed=", ".join(linked))
    for exchange, _, link in _links(trace):
        uri = link["resourceUri"]
        holds = isinstance(uri, str) and uri.startswith("ui://") and uri != "ui://"
        yield observe("XA-02", holds, exchange, expected="ui://…", observed=repr(uri)[:120])
        page = read.get(uri) if isinstance(uri, str) else None
        if page is not None:
            holds, expected = page.result is not None, "the page"
            yield observe("XA-04", holds, exchange, page, expected=expected, observed=page)


@check("Pages are HTML documents", requirements={"XA-03": "A page is no HTML document of the type for pages"})
def judge_documents(trace: Trace) -> Iterator[Observation]:
    for exchange in _pages_read(trace):
        faults = _document_faults(exchange)
        yield no_faults("XA-03", faults, exchange, expected=f"one HTML document of type {MIME_TYPE}")


def _pages_read(trace: Trace) -> Iterator[Exchange]:
    named = {link["resourceUri"] for _, _, link in _links(trace) if isinstance(link["resourceUri"], str)}
    for exchange in answered(trace, "resources/read"):
        if exchange.params.get("uri") in named and exchange.result is not None:
            yield exchange


def _document_faults(exchange: Exchange) -> Iterator[str]:
    parts = exchange.objects("contents")
    if len(parts) != 1:
        yield f"{len(parts)} parts"
        return
    if parts[0].get("uri") != exchange.params.get("uri"):
        yield f"uri {parts[0].get('uri')!r}"
    if parts[0].get("mimeType") != MIME_TYPE:
        yield f"mimeType {parts[0].get('mimeType')!r}"
    text = _text_of(parts[0])
    if text is None or not re.match(r"\s*(<!--.*?-->\s*)*<(!doctype\s+html|html)\b", text, re.I | re.S):
        yield f"a document beginning with {text[:40]!r}" if text is not None else "no text"


def _text_of(part: dict[str, Any]) -> str | None:
    text, blob = part.get("text"), part.get("blob")
    if isinstance(text, str) or not isinstance(blob, str):
        return text if isinstance(text, str) else None
    try:
        return b64decode(blob, validate=True).decode()
    except (Error, ValueError):
        return None


ORIGIN: Final = re.compile(r"(https?|wss?)://(\*\.)?[A-Za-z0-9.-]+(:\d+)?|(data|blob|mediastream):")
CSP: Final = ("connectDomains", "resourceDomains", "frameDomains", "baseUriDomains")
PERMISSIONS: Final = ("camera", "microphone", "geolocation", "clipboardWrite")


@check(
    "Metadata of tools and pages is well-formed",
    requirements={"XA-14": "The metadata of a tool or page has another shape"},
)
def judge_metadata(trace: Trace) -> Iterator[Observation]:
    for exchange, _, link in _links(trace):
        yield no_faults("XA-14", _link_faults(link), exchange, expected="`_meta.ui` of a tool")
    for exchange in _pages_read(trace):
        for part in exchange.objects("contents"):
            ui = as_object(part.get("_meta")).get("ui")
            if ui is not None:
                yield no_faults("XA-14", _page_faults(ui), exchange, expected="`_meta.ui` of a page")


def _link_faults(link: dict[str, Any]) -> Iterator[str]:
    visibility = link.get("visibility", ["model"])
    if (
        not isinstance(visibility, list)
        or not visibility
        or any(each not in ("model", "app") for each in visibility)
    ):
        yield f"visibility {visibility!r}"


def _page_faults(ui: Any) -> Iterator[str]:
    if not isinstance(ui, dict):
        yield f"ui {ui!r}"
        return
    csp, permissions = ui.get("csp", {}), ui.get("permissions", {})
    if not isinstance(csp, dict) or not isinstance(permissions, dict):
        yield "csp or permissions is no object"
        return
    for key in CSP:
        origins = csp.get(key, [])
        if not isinstance(origins, list):
            yield f"{key} {origins!r}"
        else:
            yield from (f"{key} {each!r}" for each in origins if not ORIGIN.fullmatch(str(each)))
    yield from (f"permission {key!r}" for key, value in permissions.items() if not isinstance(value, dict))
    yield from (f"unknown permission {key!r}" for key in permissions if key not in PERMISSIONS)
    for key, kind in (("domain", str), ("prefersBorder", bool)):
        if key in ui and not isinstance(ui[key], kind):
            yield f"{key} {ui[key]!r}"


@check(
    "Tools with pages also return content",
    requirements={"XA-06": "A tool with a page returns no content"},
)
def judge_text_only(trace: Trace) -> Iterator[Observation]:
    linked = {tool.get("name") for _, tool, _ in _links(trace)}
    for exchange in answered(trace, "tools/call"):
        kind = "none" if exchange.result is None else exchange.result.get("resultType", "complete")
        if exchange.params.get("name") in linked and kind == "complete":
            blocks = len(exchange.objects("content"))
            expected = "content for clients that show no pages"
            yield observe("XA-06", blocks > 0, exchange, expected=expected, observed=f"{blocks} blocks")


# --- what the checks must catch


def _tools_with_pages(result: Json) -> list[Json]:
    return [tool for tool in result["tools"] if link_of(tool)]


@on_result("links a tool to a page on a web server", breaks="XA-02", method="tools/list")
def page_on_the_web(result: Json, context: FaultContext) -> None:
    for tool in _tools_with_pages(result):
        tool["_meta"]["ui"]["resourceUri"] = "https://example.com/app.html"


@on_reply("links a tool to a page that it does not serve", breaks="XA-04")
def page_missing(reply: Json, context: FaultContext) -> Json:
    is_page = context.method == "resources/read" and str(context.params.get("uri")).startswith("ui://")
    return error_reply(reply, INVALID_PARAMS, "Resource not found") if is_page else reply


@on_result("links tools to pages for every client", breaks="XA-05", method="tools/list")
def pages_for_all(result: Json, context: FaultContext) -> None:
    for tool in result["tools"]:
        if tool["name"] == "roll_dice":
            tool["_meta"] = {"ui": {"resourceUri": "ui://reference/dice"}}


def _edit_page(part: Json, key: str, value: Any) -> None:
    if str(part.get("uri")).startswith("ui://"):
        part[key] = value


@on_result("serves a page as text/html", breaks="XA-03", method="resources/read")
def page_as_html(result: Json, context: FaultContext) -> None:
    for part in result["contents"]:
        _edit_page(part, "mimeType", "text/html")


@on_result("serves the text of a page without its markup", breaks="XA-03", method="resources/read")
def page_without_markup(result: Json, context: FaultContext) -> None:
    for part in result["contents"]:
        _edit_page(part, "text", "Dice: 3, 4")


@on_result("serves a page in two parts", breaks="XA-03", method="resources/read")
def page_in_parts(result: Json, context: FaultContext) -> None:
    result["contents"] *= 2


@on_result(
    "returns no content from a tool with a page", breaks="XA-06", method="tools/call", name="roll_dice"
)
def only_for_pages(result: Json, context: FaultContext) -> None:
    result["content"] = []


@on_result("makes a tool visible to users", breaks="XA-14", method="tools/list")
def visible_to_users(result: Json, context: FaultContext) -> None:
    for tool in _tools_with_pages(result):
        tool["_meta"]["ui"]["visibility"] = ["user"]


def _metadata_fault(name: str, fault: str, ui: Json) -> Any:
    def edit(result: Json, context: FaultContext) -> None:
        for part in result["contents"]:
            _edit_page(part, "_meta", {"ui": ui})

    return on_result(fault, breaks="XA-14", method="resources/read", id=f"apps.{name}")(edit)


METADATA_FAULTS: Final = (
    _metadata_fault(
        "csp-as-text", "declares a policy as a header", {"csp": {"connectDomains": "default-src *"}}
    ),
    _metadata_fault("any-origin", "declares * as an origin", {"csp": {"resourceDomains": ["*"]}}),
    _metadata_fault("permission-list", "declares permissions as a list", {"permissions": ["camera"]}),
    _metadata_fault("border-as-text", "says `yes` for the border", {"prefersBorder": "yes"}),
)

RESULT_EDITS: Final = edited_results(
    "resources/read",
    ("apps.page-of-another-uri", "serves a page under another URI", "XA-03", "contents.0.uri", "ui://other"),
)
