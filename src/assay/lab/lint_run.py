"""Lint what a server lists: its cost in tokens, and what hosts and models trip over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from assay.lab.harness.links.broken_off import BrokenOff, Unreachable
from assay.lab.harness.run.recording import Conditions, record
from assay.lab.harness.run.runner import SubjectDown
from assay.lab.harness.subject.discovery import DISCOVERY, discover
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.subject import Subject
from assay.lab.surface.report import FORMAT, LintReport, ToolCost
from assay.lab.surface.rule import RULES, Problem, problem
from assay.lab.surface.schema_lint import schema_problems
from assay.lab.surface.text_lint import Named, text_problems
from assay.lab.surface.token_count import Tokenizer, as_sent, tokenizer
from assay.model.version import VERSION
from assay.revisions.registry import BY_DATE, REVISIONS

from .access import Credentials
from .error import CannotJudge, InvalidOptions
from .extra import require_lab
from .options import Access
from .subjects import as_target, not_there, subjects_of, url_of
from .target import Command, Served, Target, Url

MOST_TOOLS: Final = 128
LONGEST: Final = 200
MOST_PROBLEMS: Final = 5000


class LintOptions(Struct, frozen=True, kw_only=True):
    transport: str | None = None
    """`stdio`, `http`, `http-sse` or `ws`. Default: detected, and stdio for what is started."""
    access: Access = Access()
    spec_version: str | None = None
    """The revision to list at. Default: the newest that the server supports."""
    skip: tuple[str, ...] = ()
    """Rules that do not apply."""
    tool_tokens: int = 1000
    """Tokens of a tool above which it counts as expensive."""
    total_tokens: int = 10_000
    """The same for all tools together."""
    timeout: float = 10.0
    """Seconds to wait for one answer."""


DEFAULTS: Final = LintOptions()


async def lint(target: Target | str, options: LintOptions = DEFAULTS) -> LintReport:
    """List what a server offers, call nothing, and report what costs, misleads, or is refused by hosts.

    Raises:
        LabError: the server cannot be reached, or the options cannot be used.
        MissingExtra: a library of the lab is not installed.
    """
    require_lab()
    unknown = [name for name in options.skip if name not in RULES]
    if unknown:
        raise InvalidOptions(f"unknown rule: {unknown[0]}", f"one of {', '.join(RULES)}")
    known = as_target(target)
    facts = await _listed(known, options)
    return lint_facts(facts, _name(known), options)


def lint_facts(facts: Facts, target: str, options: LintOptions = DEFAULTS) -> LintReport:
    """The same for lists that are known already."""
    counter = tokenizer()
    tools = [tool for tool in facts.tools if isinstance(tool, dict)]
    costs = [_cost(tool, counter) for tool in tools]
    total = sum(cost.tokens for cost in costs)
    problems = [
        each
        for each in (*_problems(facts, tools), *_dear(costs, total, options))
        if each.rule not in options.skip
    ]
    return LintReport(
        format=FORMAT,
        assay=VERSION,
        server=_server(facts),
        target=target,
        revision=facts.revision,
        tokenizer=counter.name,
        is_exact=counter.is_exact,
        tokens=total,
        tools=costs,
        problems=problems[:MOST_PROBLEMS],
        items=len(tools) + len(facts.prompts) + len(facts.resources) + len(facts.templates),
    )


def _cost(tool: dict[str, Any], counter: Tokenizer) -> ToolCost:
    output = tool.get("outputSchema")
    extra = counter.count(as_sent({"inputSchema": output})) if isinstance(output, dict) else 0
    return ToolCost(str(tool.get("name"))[:LONGEST], counter.count(as_sent(tool)), extra)


def _problems(facts: Facts, tools: list[dict[str, Any]]) -> Iterator[Problem]:
    named = [Named("tool", tool, "name") for tool in tools]
    named += [Named("prompt", each, "name") for each in facts.prompts if isinstance(each, dict)]
    named += [Named("resource", each, "uri") for each in facts.resources if isinstance(each, dict)]
    named += [Named("template", each, "uriTemplate") for each in facts.templates if isinstance(each, dict)]
    for item, tool in zip(named, tools, strict=False):
        yield from schema_problems(item.label, tool)
    yield from text_problems(named, str(facts.server.get("name") or ""))


def _dear(costs: list[ToolCost], total: int, options: LintOptions) -> Iterator[Problem]:
    for cost in costs:
        if cost.tokens > options.tool_tokens:
            message = f"{cost.tokens} tokens; more than {options.tool_tokens}"
            yield problem("tokens-tool", f"tool {cost.name}", message)
    if total > options.total_tokens:
        yield problem("tokens-total", "server", f"{total} tokens; more than {options.total_tokens}")
    if len(costs) > MOST_TOOLS:
        yield problem("tools-count", "server", f"{len(costs)} tools")


def _server(facts: Facts) -> str:
    parts = (facts.server.get("name"), facts.server.get("version"))
    return " ".join(part[:LONGEST] for part in parts if isinstance(part, str))


def _name(target: Target) -> str:
    match target:
        case Url(url):
            return url
        case Command(words):
            return " ".join(words)
        case Served():
            return target.name


async def _listed(target: Target, options: LintOptions) -> Facts:
    if options.spec_version is not None and options.spec_version not in BY_DATE:
        raise InvalidOptions(f"unknown revision: {options.spec_version}", f"one of {', '.join(BY_DATE)}")
    credentials = Credentials(options.access, url_of(target))
    transport = () if options.transport is None else (options.transport,)
    subject = subjects_of(target, transport, credentials)[0]
    await credentials.fetch_tokens()
    conditions = Conditions(
        patience=options.timeout, redaction=credentials.redaction, tokens=credentials.tokens
    )
    try:
        await subject.start()
        return await _discovered(subject, conditions, options)
    except Unreachable as reason:
        down = SubjectDown(credentials.redaction.string(subject.name), reason)
        raise not_there(down, target) from reason
    except SubjectDown as down:
        raise not_there(down, target) from down
    finally:
        await subject.stop()


async def _discovered(subject: Subject, conditions: Conditions, options: LintOptions) -> Facts:
    """The lists at the newest revision that the server supports."""
    revisions = [BY_DATE[options.spec_version]] if options.spec_version else list(reversed(REVISIONS))
    reason: BrokenOff | None = None
    refusal = ""
    for revision in revisions:
        facts = Facts(revision.date)
        recording = await record(DISCOVERY, subject, revision, discover, facts, conditions)
        if isinstance(recording.value, Facts):
            return recording.value
        reason = recording.broken or reason
        refusal = refusal or getattr(recording.value, "reason", "")
    if reason is not None and not refusal:
        raise SubjectDown(conditions.redaction.string(subject.name), reason)
    fix = "leave out --spec-version" if options.spec_version else "see `assay doctor`"
    raise CannotJudge(f"the server supports none of the revisions: {refusal}", fix)
