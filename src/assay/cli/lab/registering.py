"""`assay registry build`: get to know a server, and write its entry."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any

from assay.certify.registry.build import (
    Claims,
    Published,
    Seen,
    differences,
    entry,
    look_around,
    manifests,
    meet,
    unversioned,
)
from assay.certify.registry.capability_manifests import FILES
from assay.certify.registry.diff import difference
from assay.certify.registry.entry import check
from assay.certify.registry.form import Issue, Report, report
from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.output import emit
from assay.cli.registry import difference_text, entry_at, manifests_at, report_text, written
from assay.lab.harness.links.broken_off import BrokenOff, Unreachable
from assay.lab.harness.links.identity import Identity
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.subject.bearer import USUAL
from assay.lab.harness.subject.subject import CommandSubject, Subject, UrlSubject, served
from assay.lab.harness.transport import Transport

from .certificates import identity_of
from .judging import revision_of
from .subjects import argv, check_url, headers_of, redaction_of
from .tokens import equip, wallet_of


async def register(options: argparse.Namespace) -> int:
    """
    Raises:
        CommandFailed: something is wrong with the options, or the server is not there.
    """
    subjects = subjects_of(options)
    redaction = redaction_of(options)
    conditions = Conditions(
        patience=options.timeout, redaction=redaction, wallet=wallet_of(options, redaction)
    )
    previous = None if options.previous is None else entry_at(options.previous)
    before = {} if options.previous is None else manifests_at(options.previous)
    claims = claims_of(options)
    await equip(conditions.wallet)
    seen, published = await _known(subjects, conditions, identity_of(options))
    made = entry(claims_told(claims, seen), seen, published, conditions.wallet.get(USUAL))
    told = manifests(seen[0], published)
    issues = [*issues_of(made, unversioned(seen)), *differences(seen), *published.issues]
    if not tell(report(issues), options):
        return ExitCode.DOES_NOT_CONFORM
    if previous is not None:
        changes = difference(previous, made, before, told if before else {})
        print(difference_text(changes), end="", file=sys.stderr)
        if not changes.acceptable:
            return ExitCode.DOES_NOT_CONFORM
    write(options, made, told)
    return ExitCode.OK


def issues_of(made: dict[str, Any], unversioned: list[Issue]) -> list[Issue]:
    """What is wrong with an entry. A prompt without a version is told once, and in its own words."""
    found = [one for one in check(made).issues if not (unversioned and ".capabilities.prompts." in one.path)]
    return [*unversioned, *found]


def subjects_of(options: argparse.Namespace) -> list[Subject]:
    if options.target and (options.url or options.command):
        raise CommandFailed(ExitCode.USAGE, "give TARGET, or -e and --stdio, not both")
    if not (options.target or options.url or options.command):
        raise CommandFailed(ExitCode.USAGE, "no server to describe", "give TARGET, -e URL or --stdio LINE")
    if (options.header or options.bearer or options.authority) and not options.url:
        problem = "headers and tokens are sent to a URL, and there is none"
        raise CommandFailed(ExitCode.USAGE, problem, "give -e URL, or leave them out")
    if options.manifests and options.output is None:
        raise CommandFailed(ExitCode.USAGE, "--manifests are written beside -o FILE, which is not given")
    if options.target:
        name, *more = argv(options.target)
        return [served(name, transport, *more) for transport in (Transport.STDIO, Transport.HTTP)]
    found: list[Subject] = [CommandSubject(argv(options.command))] if options.command else []
    if options.url:
        check_url(options.url, [Transport.HTTP])
        found.append(UrlSubject(options.url, headers=headers_of(options), identity=identity_of(options)))
    return found


def claims_of(options: argparse.Namespace) -> Claims:
    for date in options.resume:
        revision_of(date)
    return Claims(
        options.name,
        options.server_version,
        options.description or "",
        title=options.title,
        packages=[_package(text, options.server_version) for text in options.package],
        remotes=options.remote,
        heartbeat=options.heartbeat,
        resume=options.resume,
        modes=options.auth_mode,
        scopes=options.scope,
    )


def _package(text: str, version: str) -> dict[str, Any]:
    kind, colon, name = text.partition(":")
    if not colon or not name:
        raise CommandFailed(ExitCode.USAGE, f"no package: {text!r}", "write it as pypi:my-server")
    transport = {"type": "stdio"}
    return {"registryType": kind, "identifier": name, "version": version, "transport": transport}


def claims_told(claims: Claims, seen: list[Seen]) -> Claims:
    """A description, if none was given: what the server calls itself."""
    from msgspec.structs import replace

    if claims.description:
        return claims
    itself = seen[0].newest.server
    told = itself.get("description") or itself.get("title") or itself.get("name") or claims.name
    return replace(claims, description=str(told)[:100])


async def _known(
    subjects: list[Subject], conditions: Conditions, identity: Identity
) -> tuple[list[Seen], Published]:
    """
    Raises:
        CommandFailed: a server is not there, or speaks nothing that we know.
    """
    seen, published = [], Published()
    try:
        for subject in subjects:
            await subject.start()
            one = await meet(subject, conditions)
            if not one.known:
                problem = f"{subject.name} speaks no revision of MCP: {'; '.join(one.refused)}"
                raise CommandFailed(ExitCode.INCOMPLETE, conditions.redaction.words(problem))
            seen.append(one)
            if subject.transport is Transport.HTTP:
                token = conditions.wallet.get(USUAL)
                published = await look_around(subject.name, token, one.newest, identity)
    except Unreachable as error:
        hint = "is it running? run it by hand to see what it says"
        raise CommandFailed(ExitCode.NOT_STARTED, f"{subject.name}: {error}", hint) from error
    except BrokenOff as error:
        raise CommandFailed(ExitCode.INCOMPLETE, f"{subject.name}: {error}") from error
    finally:
        await asyncio.gather(*(one.stop() for one in subjects))
    return seen, published


def tell(found: Report, options: argparse.Namespace) -> bool:
    """Say what is wrong; whether the entry is good all the same."""
    if found.issues:
        print(report_text(found, "the entry"), end="", file=sys.stderr)
    return found.valid


def write(options: argparse.Namespace, made: dict[str, Any], told: Any) -> None:
    if options.output is None:
        emit(written(made))
        return
    files = {options.output: made}
    if options.manifests:
        files |= {options.output.with_name(name): told[kind] for kind, name in FILES.items()}
    try:
        for path, value in files.items():
            _replace(path, written(value))
    except OSError as error:
        problem = f"cannot write {error.filename}: {error.strerror}"
        raise CommandFailed(ExitCode.INCOMPLETE, problem, "make room, or write elsewhere") from error


def _replace(path: Path, text: str) -> None:
    """Whole or not at all: the old entry may be the only one there is."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
