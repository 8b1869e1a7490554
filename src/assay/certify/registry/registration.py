"""Describe a live server as an entry for a registry."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from assay.certify.extra import require_certify
from assay.certify.options import EntryOptions
from assay.certify.subjects import Targets, as_targets, endpoint
from assay.lab.access import Credentials
from assay.lab.error import CannotJudge, InvalidOptions, SubjectNotStarted
from assay.lab.harness.links.broken_off import BrokenOff, Unreachable
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.subject.bearer import USUAL
from assay.lab.harness.subject.subject import CommandSubject, Subject, UrlSubject, served
from assay.lab.harness.transport import Transport
from assay.lab.selection import revisions_of
from assay.lab.target import Command, Served, Target, Url

from . import capability_manifests
from .build import (
    ObservedServer,
    PublishedDocuments,
    PublisherClaims,
    build_entry,
    manifests,
    observe,
    read_published,
    transport_differences,
    unversioned,
)
from .capability_manifests import FILES, MAX_BYTES
from .diff import Difference, Manifests, difference
from .entry import check, read
from .form import Issue, ValidationReport, validation_report

Item = dict[str, Any]


class Registration(Struct, frozen=True):
    entry: Item
    manifests: Mapping[str, list[Item]]
    report: ValidationReport
    """The issues of the entry."""
    changes: Difference | None = None
    """How it differs from the previous entry, if there is one."""

    @property
    def acceptable(self) -> bool:
        return self.report.valid and (self.changes is None or self.changes.acceptable)


async def describe(targets: Targets, options: EntryOptions) -> Registration:
    """Connect to a server on each transport, and describe what it offers.

    Raises:
        LabError: nothing was described; the subclass says why.
        MissingExtra: a library is not installed.
    """
    require_certify()
    known = as_targets(targets)
    credentials = Credentials(options.access, endpoint(known))
    subjects = [subject for target in known for subject in plain_subjects(target, credentials)]
    previous = None if options.previous is None else read_entry(options.previous)
    before = {} if options.previous is None else read_manifests(options.previous)
    claims = _claims(options)
    await credentials.fetch_tokens()
    servers, published = await _observe(subjects, credentials, options.timeout)
    written = build_entry(
        _with_description(claims, servers), servers, published, credentials.tokens.get(USUAL)
    )
    listed = manifests(servers[0], published)
    issues = [*_issues(written, unversioned(servers)), *transport_differences(servers), *published.issues]
    verdict = validation_report(issues)
    changes = None
    if verdict.valid and previous is not None:
        changes = difference(previous, written, before, listed if before else {})
    return Registration(written, listed, verdict, changes)


def _issues(written: Item, unversioned: list[Issue]) -> list[Issue]:
    """The issues of an entry. A prompt without a version is reported once, with the fix."""
    issues = [
        issue
        for issue in check(written).issues
        if not (unversioned and ".capabilities.prompts." in issue.path)
    ]
    return [*unversioned, *issues]


def plain_subjects(target: Target, credentials: Credentials) -> list[Subject]:
    """The server on each of its transports."""
    match target:
        case Served(name, options, environment):
            both = (Transport.STDIO, Transport.HTTP)
            return [served(name, transport, *options, environment=environment) for transport in both]
        case Command(words):
            return [CommandSubject(words)]
        case Url(url):
            return [UrlSubject(url, headers=credentials.headers, identity=credentials.identity)]


def _claims(options: EntryOptions) -> PublisherClaims:
    revisions_of(options.resume)
    return PublisherClaims(
        options.name,
        options.server_version,
        options.description,
        title=options.title,
        packages=[_package(text, options.server_version) for text in options.package],
        remotes=options.remote,
        heartbeat=options.heartbeat,
        resume=options.resume,
        modes=options.auth_mode,
        scopes=options.scope,
    )


def _package(text: str, version: str) -> Item:
    kind, colon, name = text.partition(":")
    if not colon or not name:
        raise InvalidOptions(f"not a package: {text!r}", "write it as pypi:my-server")
    transport = {"type": "stdio"}
    return {"registryType": kind, "identifier": name, "version": version, "transport": transport}


def _with_description(claims: PublisherClaims, servers: Sequence[ObservedServer]) -> PublisherClaims:
    """Without a description, the one that the server reports, or its name."""
    if claims.description:
        return claims
    reported = servers[0].newest.server
    text = reported.get("description") or reported.get("title") or reported.get("name") or claims.name
    return replace(claims, description=str(text)[:100])


async def _observe(
    subjects: Sequence[Subject], credentials: Credentials, timeout: float
) -> tuple[list[ObservedServer], PublishedDocuments]:
    """
    Raises:
        SubjectNotStarted: a server is unreachable.
        CannotJudge: it speaks no revision, or closed the connection.
    """
    tokens, redaction = credentials.tokens, credentials.redaction
    conditions = Conditions(patience=timeout, redaction=redaction, tokens=tokens)
    servers, published = [], PublishedDocuments()
    try:
        for subject in subjects:
            await subject.start()
            server = await observe(subject, conditions)
            if not server.known:
                problem = f"{subject.name} speaks no revision of MCP: {'; '.join(server.refused)}"
                raise CannotJudge(redaction.string(problem))
            servers.append(server)
            if subject.transport is Transport.HTTP:
                token = tokens.get(USUAL)
                published = await read_published(subject.name, token, server.newest, credentials.identity)
    except Unreachable as error:
        fix = "is it running? run it by hand to see its output"
        raise SubjectNotStarted(f"{subject.name}: {error}", fix) from error
    except BrokenOff as error:
        raise CannotJudge(f"{subject.name}: {error}") from error
    finally:
        await asyncio.gather(*(subject.stop() for subject in subjects))
    return servers, published


def read_entry(path: Path) -> Item:
    """
    Raises:
        InvalidOptions: it cannot be read, or is not a valid entry.
    """
    value, verdict = read(read_file(path))
    wrong = next((issue for issue in verdict.issues if issue.severity == "error"), None)
    if not isinstance(value, dict) or wrong is not None:
        problem = (
            f"{path} is not a valid entry: {wrong.path if wrong else ''}: {wrong.message if wrong else ''}"
        )
        raise InvalidOptions(problem, f"`assay registry check {path}` shows everything that is wrong")
    return value


def read_manifests(path: Path) -> Manifests:
    """The manifests beside an entry.

    Raises:
        InvalidOptions: one cannot be read, or is not valid.
    """
    listed = {}
    for kind, name in FILES.items():
        place = path.with_name(name)
        if place.exists():
            listed[kind], issues = capability_manifests.read(kind, read_file(place))
            wrong = next((issue for issue in issues if issue.severity == "error"), None)
            if wrong is not None:
                raise InvalidOptions(f"{place} is not a manifest: {wrong.path} {wrong.message}")
    return listed


def read_file(path: Path) -> bytes:
    """
    Raises:
        InvalidOptions: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidOptions(f"cannot read {path}: {error.strerror}") from error
