"""An entry for a registry from a live server: what can be seen of it is seen, the rest its publisher says."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

from assay.lab.harness.driver.server_stream import open_ears
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.links.http_call import Address
from assay.lab.harness.links.http_request import ask
from assay.lab.harness.links.identity import ANYBODY, Identity
from assay.lab.harness.run.recording import Conditions, Recording, play
from assay.lab.harness.subject.bearer import claims_of
from assay.lab.harness.subject.discovery import DISCOVERY, discover
from assay.lab.harness.subject.facts import Facts, Refusal
from assay.lab.harness.subject.registry_entry import (
    KINDS,
    PROFILE,
    PROFILE_ID,
    PUBLISHER,
    TRANSPORTS,
    VERSION,
    capabilities_block,
    version_of,
)
from assay.lab.harness.subject.subject import Subject
from assay.lab.harness.trace.resource_metadata import places
from assay.lab.harness.transport import Transport
from assay.lab.marketplace.capabilities.manifest import PLACES
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Batching, Revision

from .capability_manifests import disagreements, made_of
from .capability_manifests import read as read_manifest
from .entry import SCHEMA
from .form import Issue

Item = dict[str, Any]
BATCH: Final = ("batch-1", "batch-2")
BATCHING: Final = "batching"
AT_ONCE: Final = 3
"""Revisions that are tried at the same time; on stdio, each has a process of its own."""


class Claims(Struct, frozen=True):
    """What a publisher says, because nobody can see it."""

    name: str
    version: str
    description: str
    title: str | None = None
    packages: Sequence[Item] = ()
    remotes: Sequence[str] = ()
    heartbeat: float | None = None
    """Seconds between two signs of life on a stream."""
    resume: Sequence[str] = ()
    """Revisions in which a stream can be resumed, besides those in which that was seen."""
    modes: Sequence[str] = ()
    scopes: Sequence[str] = ()


class Seen(Struct):
    """A server on one transport."""

    transport: Transport
    known: dict[Revision, Facts] = {}
    refused: list[str] = []
    """Why revisions are not spoken."""
    streams: bool = False
    resumable: list[str] = []
    batch: bool = False

    @property
    def newest(self) -> Facts:
        return self.known[max(self.known, key=REVISIONS.index)]


class Published(Struct):
    """What a server tells by HTTP beside the protocol."""

    manifests: dict[str, list[Item]] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)


class _Visit(Struct):
    facts: Facts
    streams: bool = False
    resumable: bool = False


async def meet(subject: Subject, conditions: Conditions) -> Seen:
    """Get to know a server that has started, at every revision."""
    seen = Seen(subject.transport)
    gate = asyncio.Semaphore(AT_ONCE)

    async def visit(revision: Revision) -> tuple[Recording, Recording | None]:
        async with gate:
            nothing = Facts(revision.date)
            played = await play(DISCOVERY, subject, revision, _visit, nothing, conditions)
            if revision.batching is not Batching.ACCEPTED or not isinstance(played.value, _Visit):
                return played, None
            facts = played.value.facts
            return played, await play(BATCHING, subject, revision, _send_batch, facts, conditions)

    visits = await asyncio.gather(*map(visit, REVISIONS))
    for revision, (played, batched) in zip(REVISIONS, visits, strict=True):
        _note(seen, revision, played)
        seen.batch |= batched is not None and _took_batch(batched)
    return seen


def _note(seen: Seen, revision: Revision, played: Recording) -> None:
    if not isinstance(played.value, _Visit):
        seen.refused.append(_reason(revision, played))
        return
    seen.known[revision] = played.value.facts
    seen.streams |= played.value.streams
    seen.resumable += [revision.date] if played.value.resumable else []


def _reason(revision: Revision, played: Recording) -> str:
    reason = played.value.reason if isinstance(played.value, Refusal) else played.broken
    return f"{revision.date}: {reason}"


async def _visit(stage: Stage) -> _Visit | Refusal:
    found = await discover(stage)
    if isinstance(found, Refusal):
        return found
    visit = _Visit(found)
    if stage.transport is Transport.HTTP and stage.revision.http.sessions:
        peer = await stage.open()
        visit.streams = await open_ears(stage, peer)
        if visit.streams and stage.revision.http.priming and peer.ears is not None:
            await peer.ears.begun(stage.patience)
            visit.resumable = bool(peer.ears.event_ids)
    return visit


async def _send_batch(stage: Stage) -> None:
    peer = await stage.open()
    await peer.batch(*({"jsonrpc": "2.0", "id": one, "method": "ping"} for one in BATCH))


def _took_batch(played: Recording) -> bool:
    """However the conversation ended: a server may refuse in many ways, and accept in one."""
    answers = [message for message in played.trace.received if message.id in BATCH]
    return any("result" in answer.fields for answer in answers)


async def look_around(url: str, token: str | None, facts: Facts, identity: Identity = ANYBODY) -> Published:
    """Read the manifests and the metadata of the protected resource.

    Raises:
        BrokenOff: nobody is there any more.
    """
    found = Published()
    address = Address.of(url)
    origin = url.split("://", 1)[0] + "://" + address.authority
    headers = {"Accept": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    for kind, place in PLACES.items():
        answer = await ask("GET", origin + place, headers, identity=identity)
        if answer.status != 200:
            message = f"is not published: status {answer.status}"
            found.issues.append(Issue("semantic", place, message, "warning"))
            continue
        entries, issues = read_manifest(kind, answer.body)
        issues += disagreements(kind, entries, getattr(facts, kind)) if not issues else []
        found.manifests[kind] = entries
        found.issues += [_below(place, issue) for issue in issues]
    for place in places(address.target, address.authority, None):
        told = (await ask("GET", origin + place, {}, identity=identity)).object.get("scopes_supported")
        found.scopes += [scope for scope in told if isinstance(scope, str)] if isinstance(told, list) else []
    return found


def _below(place: str, issue: Issue) -> Issue:
    return Issue(issue.type, f"{place} {issue.path}".strip(), issue.message, issue.severity)


def differences(seen: Sequence[Seen]) -> list[Issue]:
    """An entry speaks for all transports: what they offer must be the same."""
    first, *others = seen
    same = _capabilities(first)
    return [
        Issue(
            "semantic",
            kind,
            f"are not the same on {TRANSPORTS[one.transport]} and {TRANSPORTS[first.transport]}",
        )
        for one in others
        for kind in KINDS
        if _capabilities(one)[kind] != same[kind]
    ]


def unversioned(seen: Sequence[Seen]) -> list[Issue]:
    """An entry tells the version of every prompt, which nobody but the server can know."""
    lacking = {
        str(prompt.get("name"))
        for one in seen
        for prompt in one.newest.prompts
        if not {"semver", "digest"} <= version_of(prompt).keys()
    }
    told = (
        f'has no version and digest in _meta["{VERSION}"]; `assay serve --profile` adds them to prompts with '
        "@server.prompt(version=…)"
    )
    return [Issue("semantic", f"prompts.{name}", told) for name in sorted(lacking)]


def _capabilities(seen: Seen) -> Item:
    return capabilities_block({kind: getattr(seen.newest, kind) for kind in KINDS})


def entry(claims: Claims, seen: Sequence[Seen], published: Published, token: str | None) -> Item:
    """The entry; `seen` is one at least, and each has spoken some revision."""
    optional = {
        "title": claims.title,
        "packages": list(claims.packages),
        "remotes": [{"type": "streamable-http", "url": url} for url in claims.remotes],
    }
    return {
        "$schema": SCHEMA,
        "name": claims.name,
        "description": claims.description,
        "version": claims.version,
        **{key: value for key, value in optional.items() if value},
        "_meta": {PUBLISHER: {PROFILE: _block(claims, seen, published, token)}},
    }


def _block(claims: Claims, seen: Sequence[Seen], published: Published, token: str | None) -> Item:
    spoken = {revision for one in seen for revision in one.known}
    block: Item = {
        "id": PROFILE_ID,
        "transports": [TRANSPORTS[one.transport] for one in seen],
        "protocolVersions": [one.date for one in REVISIONS if one in spoken],
        "streaming": _streaming(claims, seen),
        "jsonrpc": {"batch": any(one.batch for one in seen)},
        "capabilities": _capabilities(seen[0]),
    }
    modes, scopes = _modes(claims, seen, token), _scopes(claims, published)
    return {**block, "auth": {"modes": modes, "scopes": scopes}} if modes or scopes else block


def _streaming(claims: Claims, seen: Sequence[Seen]) -> Item:
    resumable = {*claims.resume, *(date for one in seen for date in one.resumable)}
    told: Item = {"sse": any(one.streams for one in seen), "resume": sorted(resumable)}
    return told if claims.heartbeat is None else {**told, "heartbeatSec": claims.heartbeat}


def _modes(claims: Claims, seen: Sequence[Seen], token: str | None) -> list[str]:
    """Seen is a token that it took to be let in."""
    protected = any(facts.protected for one in seen for facts in one.known.values())
    shown = [] if not protected or token is None else ["jwt" if claims_of(token) else "bearer"]
    return list(dict.fromkeys([*shown, *claims.modes]))


def _scopes(claims: Claims, published: Published) -> list[str]:
    named = [scope for entries in published.manifests.values() for scope in _scopes_in(entries)]
    return sorted({*claims.scopes, *published.scopes, *named})


def _scopes_in(entries: Iterable[Item]) -> list[str]:
    lists = [entry.get("scopes") for entry in entries]
    return [scope for one in lists if isinstance(one, list) for scope in one if isinstance(scope, str)]


def manifests(seen: Seen, published: Published) -> Mapping[str, list[Item]]:
    """As the server publishes them; for what it does not, made of its lists."""
    return {
        kind: published.manifests.get(kind) or [made_of(kind, item) for item in getattr(seen.newest, kind)]
        for kind in KINDS
    }
