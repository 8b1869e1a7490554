"""Fuzz a server: from the target and the options to a stored run with its findings."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Callable
from pathlib import Path
from tempfile import gettempdir
from typing import Final

from hypothesis.configuration import set_hypothesis_home_dir
from msgspec import Struct

from assay.lab.access import Credentials
from assay.lab.error import CannotStore, InvalidOptions
from assay.lab.extra import require_lab
from assay.lab.harness.run.archive import StorageError
from assay.lab.harness.run.call_remarks import OPTIONS
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.run.run import Run, redacted
from assay.lab.harness.run.runner import SubjectDown
from assay.lab.harness.subject.facts import Permission
from assay.lab.live_run import open_archive
from assay.lab.options import FuzzOptions
from assay.lab.selection import revisions_of
from assay.lab.server_run import dropped
from assay.lab.subjects import as_target, not_there, subjects_of, url_of
from assay.lab.suites import protocol_suite
from assay.lab.target import Command, Served, Target, Url

from .case import BadCase, Case, dump_case, parse_case
from .export import export_tests
from .finding import FuzzFinding
from .fuzzer import FuzzCounts, Fuzzer, FuzzOrder
from .judge import BrokenRule, TraceJudge
from .target import FuzzTarget

DEFAULTS: Final = FuzzOptions()


class FuzzResult(Struct, frozen=True):
    run: Run
    path: Path | None
    """Where the run is stored, if it is."""
    seed: int
    counts: FuzzCounts
    findings: list[FuzzFinding]
    unconfirmed: list[str]
    """Findings that could not be reproduced, one line each."""
    skipped: list[str]
    """Tools that were not called, since they may have effects."""


class FuzzSession:
    def __init__(self, target: Target | str, options: FuzzOptions = DEFAULTS) -> None:
        """
        Raises:
            InvalidOptions: the options cannot be used. Nothing has been started then.
            MissingExtra: a library of the lab is not installed.
        """
        require_lab("hypothesis")
        self._target = as_target(target)
        self._options = options
        credentials = Credentials(options.access, url_of(self._target))
        self._subjects = subjects_of(self._target, options.transport, credentials)
        self._order = FuzzOrder(
            seed=secrets.randbits(32) if options.seed is None else options.seed,
            seconds=options.seconds,
            conditions=Conditions(patience=options.timeout, redaction=credentials.redaction),
            revisions=revisions_of(options.spec_version),
            permission=_permission(options),
            strict=options.strict,
            cases=tuple(map(_case, options.case)),
        )
        self._archive = None if options.output is None else open_archive(options.output, protocol_suite())

    @property
    def seed(self) -> int:
        return self._order.seed

    async def run(self, watch: Callable[[FuzzCounts], None] = lambda counts: None) -> FuzzResult:
        """
        Raises:
            LabError: nothing was judged; the subclass says why.
        """
        # Keep the cache of hypothesis out of the user's directory.
        set_hypothesis_home_dir(Path(gettempdir()) / "assay-hypothesis")
        archive = self._archive
        keep = dropped if archive is None else archive.store
        judge = TraceJudge(protocol_suite())
        fuzzer = Fuzzer(self._order, judge, self._subjects, keep=keep, reproduce=self.command, watch=watch)
        try:
            run = redacted(await fuzzer.run(), self._order.conditions.redaction)
            path = None if archive is None else archive.finish(run)
        except SubjectDown as down:
            raise not_there(down, self._target) from down
        except StorageError as error:
            raise CannotStore(str(error), "name another directory with --output") from error
        skipped = sorted({name for target in fuzzer.targets for name in target.context.left_alone})
        unconfirmed = [self._unconfirmed(*item) for item in fuzzer.unconfirmed]
        return FuzzResult(run, path, self.seed, fuzzer.counts, fuzzer.findings, unconfirmed, skipped)

    def command(self, target: FuzzTarget, case: Case) -> str:
        """The command that reproduces a finding; for a case without steps, that of the whole run."""
        context, order = target.context, self._order
        words = ["assay", "server", *_target_words(self._target)]
        words += [] if isinstance(self._target, Command) else ["--transport", str(context.transport)]
        words += ["--spec-version", context.revision.date, "--suite", "fuzz"]
        words += [OPTIONS[order.permission]] if order.permission in OPTIONS else []
        whole_run = ["--seed", str(order.seed), "--seconds", f"{order.seconds:g}"]
        words += ["--case", dump_case(case)] if case.steps else whole_run
        return order.conditions.redaction.string(shlex.join(words))

    def _unconfirmed(self, target: FuzzTarget, broken: BrokenRule, case: Case) -> str:
        where = f"{target.context.transport}, {target.context.revision}"
        return f"{broken.check} {broken.requirement} ({where}): {self.command(target, case)}"

    def export(self, result: FuzzResult, path: Path) -> bool:
        """Write the findings as a pytest file; false if there are none that can be repeated.

        Raises:
            CannotStore: the file cannot be written.
        """
        cases = [finding for finding in result.findings if finding.case.steps]
        if not cases:
            return False
        origin = f"assay server --suite fuzz --seed {self.seed}"
        text = export_tests(cases, [_server(self._target) for _ in cases], origin)
        try:
            path.write_text(text, "utf-8")
        except OSError as error:
            problem = f"cannot write {path}: {error.strerror}"
            raise CannotStore(problem, "name another file with --export") from error
        return True


def _case(text: str) -> Case:
    try:
        return parse_case(text)
    except BadCase as error:
        fix = "give the word that a finding of --suite fuzz names after --case"
        raise InvalidOptions(str(error), fix) from error


def _target_words(target: Target) -> list[str]:
    match target:
        case Served(name, options):
            return [shlex.join([name, *options]) if options else name]
        case Command(words):
            return ["--command", shlex.join(words)]
        case Url(url, command):
            return [*(["--command", shlex.join(command)] if command else []), "--url", url]


def _server(target: Target) -> dict[str, object]:
    """The arguments of `broken_by` that name the server. Credentials are left out."""
    match target:
        case Served(name):
            return {"target": name}
        case Command(words):
            return {"command": list(words)}
        case Url(url, command):
            return {**({"command": list(command)} if command else {}), "url": url}


def _permission(options: FuzzOptions) -> Permission:
    if options.allow_destructive:
        return Permission.DESTRUCTIVE
    return Permission.EFFECTS if options.allow_effects else Permission.READ_ONLY
