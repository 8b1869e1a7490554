"""Build a registry entry: from what a live server shows, and for the rest from what its publisher claims."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field

from assay.lab.harness.driver.stage import Stage, open_server_stream
from assay.lab.harness.links.http_call import Address, fetch
from assay.lab.harness.links.identity import DEFAULT_IDENTITY, Identity
from assay.lab.harness.run.recording import Conditions, Recording, record
from assay.lab.harness.subject.bearer import claims_of
from assay.lab.harness.subject.discovery import DISCOVERY, discover
from assay.lab.harness.subject.facts import Facts, UnsupportedRevision
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
from assay.lab.harness.trace.authorization import candidate_paths
from assay.lab.harness.transport import Transport
from assay.lab.marketplace.capabilities.manifest import PLACES
from assay.revisions.registry import REVISIONS
from assay.revisions.revision import Batching, Revision

from .capability_manifests import disagreements, manifest_entry
from .capability_manifests import read as read_manifest
from .entry import SCHEMA
from .form import Issue

Item = dict[str, Any]
BATCH: Final = ("batch-1", "batch-2")
BATCHING: Final = "batching"
AT_ONCE: Final = 3
"""Revisions that are tried concurrently; on stdio, each one in a separate process."""


class PublisherClaims(Struct, frozen=True):
    """What the publisher states because it cannot be observed."""

    name: str
    version: str
    description: str
    title: str | None = None
    packages: Sequence[Item] = ()
    remotes: Sequence[str] = ()
    heartbeat: float | None = None
    """Seconds between two heartbeats on a stream."""
    resume: Sequence[str] = ()
    """Revisions in which a stream can be resumed, in addition to the observed ones."""
    modes: Sequence[str] = ()
    scopes: Sequence[str] = ()


class ObservedServer(Struct):
    """What was observed of a server on one transport."""

    transport: Transport
    known: dict[Revision, Facts] = {}
    refused: list[str] = []
    """Why the server does not speak the other revisions."""
    streams: bool = False
    resumable: list[str] = []
    batch: bool = False

    @property
    def newest(self) -> Facts:
        return self.known[max(self.known, key=REVISIONS.index)]


class PublishedDocuments(Struct):
    """The manifests and metadata that a server publishes over HTTP, outside the protocol."""

    manifests: dict[str, list[Item]] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)


class _Discovery(Struct):
    facts: Facts
    streams: bool = False
    resumable: bool = False


async def observe(subject: Subject, conditions: Conditions) -> ObservedServer:
    """Discover a running server at every revision."""
    server = ObservedServer(subject.transport)
    concurrency = asyncio.Semaphore(AT_ONCE)

    async def try_revision(revision: Revision) -> tuple[Recording, Recording | None]:
        async with concurrency:
            unknown = Facts(revision.date)
            recording = await record(DISCOVERY, subject, revision, _discover, unknown, conditions)
            if revision.batching is not Batching.ACCEPTED or not isinstance(recording.value, _Discovery):
                return recording, None
            facts = recording.value.facts
            return recording, await record(BATCHING, subject, revision, _send_batch, facts, conditions)

    recordings = await asyncio.gather(*map(try_revision, REVISIONS))
    for revision, (discovery, batch) in zip(REVISIONS, recordings, strict=True):
        _add(server, revision, discovery)
        server.batch |= batch is not None and _accepted_batch(batch)
    return server


def _add(server: ObservedServer, revision: Revision, recording: Recording) -> None:
    discovery = recording.value
    if not isinstance(discovery, _Discovery):
        reason = discovery.reason if isinstance(discovery, UnsupportedRevision) else recording.broken
        server.refused.append(f"{revision.date}: {reason}")
        return
    server.known[revision] = discovery.facts
    server.streams |= discovery.streams
    server.resumable += [revision.date] if discovery.resumable else []


async def _discover(stage: Stage) -> _Discovery | UnsupportedRevision:
    facts = await discover(stage)
    if isinstance(facts, UnsupportedRevision):
        return facts
    discovery = _Discovery(facts)
    if stage.transport is Transport.HTTP and stage.revision.http.sessions:
        peer = await stage.open()
        discovery.streams = await open_server_stream(stage, peer)
        if discovery.streams and stage.revision.http.priming and peer.server_stream is not None:
            await peer.server_stream.begun(stage.patience)
            discovery.resumable = bool(peer.server_stream.event_ids)
    return discovery


async def _send_batch(stage: Stage) -> None:
    peer = await stage.open()
    await peer.batch(*({"jsonrpc": "2.0", "id": name, "method": "ping"} for name in BATCH))


def _accepted_batch(recording: Recording) -> bool:
    """A result proves that the batch was accepted, however the conversation ended."""
    answers = [message for message in recording.trace.received if message.id in BATCH]
    return any("result" in answer.fields for answer in answers)


async def read_published(
    url: str, token: str | None, facts: Facts, identity: Identity = DEFAULT_IDENTITY
) -> PublishedDocuments:
    """Fetch the manifests and the metadata of the protected resource.

    Raises:
        BrokenOff: the server does not answer.
    """
    published = PublishedDocuments()
    address = Address.of(url)
    origin = url.split("://", 1)[0] + "://" + address.authority
    headers = {"Accept": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    for kind, place in PLACES.items():
        answer = await fetch("GET", origin + place, headers, identity=identity)
        if answer.status != 200:
            message = f"is not published: status {answer.status}"
            published.issues.append(Issue("semantic", place, message, "warning"))
            continue
        entries, issues = read_manifest(kind, answer.body)
        issues += disagreements(kind, entries, getattr(facts, kind)) if not issues else []
        published.manifests[kind] = entries
        published.issues += [_below(place, issue) for issue in issues]
    for place in candidate_paths(address.target, address.authority, None):
        scopes = (await fetch("GET", origin + place, {}, identity=identity)).object.get("scopes_supported")
        if isinstance(scopes, list):
            published.scopes += [scope for scope in scopes if isinstance(scope, str)]
    return published


def _below(place: str, issue: Issue) -> Issue:
    return Issue(issue.type, f"{place} {issue.path}".strip(), issue.message, issue.severity)


def transport_differences(servers: Sequence[ObservedServer]) -> list[Issue]:
    """An entry covers all transports, so they must offer the same."""
    first, *others = servers
    expected = _capabilities(first)
    return [
        Issue(
            "semantic",
            kind,
            f"differ between {TRANSPORTS[other.transport]} and {TRANSPORTS[first.transport]}",
        )
        for other in others
        for kind in KINDS
        if _capabilities(other)[kind] != expected[kind]
    ]


def unversioned(servers: Sequence[ObservedServer]) -> list[Issue]:
    """Prompts without a version and digest, which an entry must contain."""
    names = {
        str(prompt.get("name"))
        for server in servers
        for prompt in server.newest.prompts
        if not {"semver", "digest"} <= version_of(prompt).keys()
    }
    message = (
        f'has no version and digest in _meta["{VERSION}"]; `assay serve --profile` adds them to prompts with '
        "@server.prompt(version=…)"
    )
    return [Issue("semantic", f"prompts.{name}", message) for name in sorted(names)]


def _capabilities(server: ObservedServer) -> Item:
    return capabilities_block({kind: getattr(server.newest, kind) for kind in KINDS})


def build_entry(
    claims: PublisherClaims,
    servers: Sequence[ObservedServer],
    published: PublishedDocuments,
    token: str | None,
) -> Item:
    """The entry for a server, observed on one or more transports, at one revision at least on each."""
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
        "_meta": {PUBLISHER: {PROFILE: _block(claims, servers, published, token)}},
    }


def _block(
    claims: PublisherClaims,
    servers: Sequence[ObservedServer],
    published: PublishedDocuments,
    token: str | None,
) -> Item:
    spoken = {revision for server in servers for revision in server.known}
    block: Item = {
        "id": PROFILE_ID,
        "transports": [TRANSPORTS[server.transport] for server in servers],
        "protocolVersions": [revision.date for revision in REVISIONS if revision in spoken],
        "streaming": _streaming(claims, servers),
        "jsonrpc": {"batch": any(server.batch for server in servers)},
        "capabilities": _capabilities(servers[0]),
    }
    modes, scopes = _modes(claims, servers, token), _scopes(claims, published)
    return {**block, "auth": {"modes": modes, "scopes": scopes}} if modes or scopes else block


def _streaming(claims: PublisherClaims, servers: Sequence[ObservedServer]) -> Item:
    resumable = {*claims.resume, *(date for server in servers for date in server.resumable)}
    block: Item = {"sse": any(server.streams for server in servers), "resume": sorted(resumable)}
    return block if claims.heartbeat is None else {**block, "heartbeatSec": claims.heartbeat}


def _modes(claims: PublisherClaims, servers: Sequence[ObservedServer], token: str | None) -> list[str]:
    """The claimed modes, after the kind of token that the server required."""
    protected = any(facts.protected for server in servers for facts in server.known.values())
    observed = [] if not protected or token is None else ["jwt" if claims_of(token) else "bearer"]
    return list(dict.fromkeys([*observed, *claims.modes]))


def _scopes(claims: PublisherClaims, published: PublishedDocuments) -> list[str]:
    listed = [scope for entries in published.manifests.values() for scope in _scopes_in(entries)]
    return sorted({*claims.scopes, *published.scopes, *listed})


def _scopes_in(entries: Iterable[Item]) -> list[str]:
    lists = [entry.get("scopes") for entry in entries]
    return [
        scope for scopes in lists if isinstance(scopes, list) for scope in scopes if isinstance(scope, str)
    ]


def manifests(server: ObservedServer, published: PublishedDocuments) -> Mapping[str, list[Item]]:
    """The published manifests; those that are missing are generated from the lists."""
    return {
        kind: published.manifests.get(kind)
        or [manifest_entry(kind, item) for item in getattr(server.newest, kind)]
        for kind in KINDS
    }
