"""How `assay server --suite fuzz` turns its options into a run, and what it found into output and files."""

from __future__ import annotations

import argparse
import secrets
import shlex
import sys
from pathlib import Path
from tempfile import gettempdir
from typing import Final

from hypothesis.configuration import set_hypothesis_home_dir

from assay.cli.delivery import deliver
from assay.cli.exit_code import CommandFailed, ExitCode
from assay.lab.fuzz.case import BadCase, Case, dump_case, parse_case
from assay.lab.fuzz.export import exported
from assay.lab.fuzz.finding import Found
from assay.lab.fuzz.fuzzer import Fuzzer, FuzzOrder
from assay.lab.fuzz.jury import Jury
from assay.lab.fuzz.place import Place
from assay.lab.harness.run.archive import CannotKeep
from assay.lab.harness.run.conclusion import conclude
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.run.run import redacted
from assay.lab.harness.run.runner import SubjectDown
from assay.lab.report.registry import renderer
from assay.lab.suites import protocol_suite

from .fuzz_progress import FuzzProgress, findings
from .judging import EXIT_CODES, archive_at, for_eyes, not_kept, revision_of, stop_on_request, wanted_format
from .server_play import not_there
from .subjects import argv, redaction_of, subjects_of
from .tokens import FOR_AUTHORITY

SECONDS: Final = 60.0
NOT_FOR_FUZZING: Final = (
    "scenario",
    "all",
    "jobs",
    "repeat",
    "isolate",
    "baseline",
    "record_golden",
    "against_golden",
    "golden_ignore",
    "bearer_other",
    "bearer_weak",
    "bearer_expired",
    "bearer_foreign",
    "authority",
    *FOR_AUTHORITY,
)
NAMED: Final = 5
"""Tools that are named one by one among those that are left alone."""


async def fuzz_server(options: argparse.Namespace) -> int:
    render = renderer(wanted_format(options.format))
    order = order_of(options)
    archive = archive_at(options)
    # What hypothesis remembers of modules is of no use to a user's directory.
    set_hypothesis_home_dir(Path(gettempdir()) / "assay-hypothesis")
    stop_on_request()
    say(f"seed {order.seed}" if not order.cases else "one case")
    with FuzzProgress(sys.stderr) as watch:
        fuzzer = Fuzzer(
            order,
            Jury(protocol_suite()),
            subjects_of(options),
            keep=archive.keep,
            again=lambda place, case: again(options, order, place, case),
            watch=watch,
        )
        try:
            run = redacted(await fuzzer.run(), order.conditions.redaction)
            place = archive.finish(run)
        except SubjectDown as down:
            raise not_there(down, options) from down
        except CannotKeep as error:
            raise not_kept(error) from error
    tell(fuzzer, options, order)
    deliver(render(for_eyes(run, place, options.format)), options.format, beside=place.parent)
    say(f"stored: {place}")
    export(fuzzer.found, options, order)
    return EXIT_CODES[conclude(run)]


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def order_of(options: argparse.Namespace) -> FuzzOrder:
    given = [name for name in NOT_FOR_FUZZING if getattr(options, name)]
    if given:
        problem = f"--{given[0].replace('_', '-')} is not for --suite fuzz"
        raise CommandFailed(ExitCode.USAGE, problem, "see `assay server --help`")
    return FuzzOrder(
        seed=secrets.randbits(32) if options.seed is None else options.seed,
        seconds=options.seconds or SECONDS,
        conditions=Conditions(patience=options.timeout, redaction=redaction_of(options)),
        revisions=tuple(revision_of(date) for date in dict.fromkeys(options.spec_version)),
        effects=options.allow_effects,
        strict=options.strict,
        cases=tuple(case_of(text) for text in options.case),
    )


def case_of(text: str) -> Case:
    try:
        return parse_case(text)
    except BadCase as error:
        hint = "give the word that a finding of --suite fuzz names after --case"
        raise CommandFailed(ExitCode.USAGE, str(error), hint) from error


def again(options: argparse.Namespace, order: FuzzOrder, place: Place, case: Case) -> str:
    """The line that shows a finding again. A case without steps stands for the whole run."""
    ground = place.ground
    words = ["assay", "server"]
    words += [options.target] if options.target else []
    words += ["--command", options.command] if options.command else []
    words += ["--url", options.url] if options.url else []
    words += [] if options.command and not options.url else ["--transport", str(ground.transport)]
    words += ["--spec-version", ground.revision.date, "--suite", "fuzz"]
    words += ["--allow-effects"] if options.allow_effects else []
    words += ["--case", dump_case(case)] if case.steps else _whole_run(order)
    return order.conditions.redaction.words(shlex.join(words))


def _whole_run(order: FuzzOrder) -> list[str]:
    return ["--seed", str(order.seed), "--seconds", f"{order.seconds:g}"]


def tell(fuzzer: Fuzzer, options: argparse.Namespace, order: FuzzOrder) -> None:
    """What the stored run does not say."""
    left = sorted({name for place in fuzzer.places for name in place.ground.left_alone})
    if left:
        more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
        say(f"left alone, since they may change something: {', '.join(left[:NAMED])}{more} (--allow-effects)")
    for place, broken, case in fuzzer.unsure:
        where = f"{place.ground.transport}, {place.ground.revision}"
        line = again(options, order, place, case)
        say(f"seen once and not again: {broken.check} {broken.row} ({where}): {line}")
    say(f"{fuzzer.count.cases} conversations, {fuzzer.count.steps} messages, {findings(len(fuzzer.found))}")


def export(found: list[Found], options: argparse.Namespace, order: FuzzOrder) -> None:
    if options.export is None:
        return
    cases = [one for one in found if one.case.steps]
    if not cases:
        say(f"nothing was found, so {options.export} was not written")
        return
    origin = f"assay server --suite fuzz --seed {order.seed}"
    text = exported(cases, [server_of(options, one.place) for one in cases], origin)
    try:
        Path(options.export).write_text(text, "utf-8")
    except OSError as error:
        problem = f"cannot write {options.export}: {error.strerror}"
        raise CommandFailed(ExitCode.INCOMPLETE, problem, "name another file with --export") from error
    say(f"exported: {options.export}")


def server_of(options: argparse.Namespace, place: Place) -> dict[str, object]:
    """The arguments of `broken_by` that name the server. Credentials are not written down."""
    if options.target:
        return {"target": options.target}
    named: dict[str, object] = {"command": argv(options.command)} if options.command else {}
    return named | ({"url": options.url} if options.url else {})
