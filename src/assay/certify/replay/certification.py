"""Replay as a measurement of a certification: record what the server says, replay it at once, and compare.

The recording and the replay are stored, so that the comparison can be made again without the server.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec import Struct

from assay.certify.measurement import Measurement, MeasurementContext
from assay.lab.error import InvalidOptions
from assay.lab.harness.subject.facts import Facts, Permission
from assay.lab.harness.trace.file import BadTrace, dump_trace, parse_trace
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport
from assay.lab.options import Access
from assay.lab.target import Command, Target, Url

from .bundle import ReplayBundle, parse_bundle
from .comparison import compare
from .options import RecordOptions, ReplayOptions
from .recording import RecordingSession
from .replay import ReplaySession
from .seed import Seeds
from .seeded_target import with_variables

DEMAND: Final = "CONF-EVD-06.replay"
AGAIN: Final = "again-"
"""The prefix of the traces of the replay; those of the recording have the names of a bundle."""


class Played(Struct, frozen=True):
    """One way to reach the server, with what was recorded and replayed on it."""

    bundle: ReplayBundle
    traces: dict[str, Trace]
    """Of the replay, by the file of the recording."""
    problems: list[str]


async def measure_replay(context: MeasurementContext) -> Measurement | None:
    """The share of fixtures that match on each transport; None if the server can be reached on none.

    Raises:
        LabError: the server did not start, or nothing could be recorded.
    """
    seeds = Seeds().filled()
    played = [await _play(way, context, seeds) for way in _ways(context, seeds)]
    if not played:
        return None
    bundle = _merged([each.bundle for each in played])
    again = {f"{AGAIN}{name}": dump_trace(trace) for each in played for name, trace in each.traces.items()}
    files = {**bundle.files, **again}
    problems = [problem for each in played for problem in each.problems]
    return Measurement(
        demand=DEMAND,
        figures=figures_of(files),
        facts=_shown(context, seeds, bundle),
        problem=problems[0][:1000] if problems else "",
        files=files,
    )


def _shown(context: MeasurementContext, seeds: Seeds, bundle: ReplayBundle) -> dict[str, str]:
    seeded = [way.transport for way in _ways(context, seeds) if way.is_seeded]
    return {
        "conversations": ", ".join(name.removesuffix(".ndjson") for name in bundle.traces),
        "seeded": ", ".join(seeded) or "nothing: a server at a URL has the environment it was started with",
        **({"clock": seeds.clock} if seeded else {}),
    }


class Way(Struct, frozen=True):
    target: Target
    transport: str
    access: Access
    is_seeded: bool


def _ways(context: MeasurementContext, seeds: Seeds) -> Iterator[Way]:
    """By the command on stdio, in the sandbox if there is one, and at the URL."""
    words = context.commands.get(Transport.STDIO)
    if words is not None and Transport.STDIO in context.scope:
        variables = {**context.environment, **seeds.environment}
        # Before the launcher of a sandbox: it passes them on, and has to see which program it starts.
        command = with_variables(context.wrap(words), variables)
        yield Way(Command(command), Transport.STDIO, Access(), True)
    urls = [target for target in context.targets if isinstance(target, Url)]
    for target in urls[:1] if Transport.HTTP in context.scope else ():
        yield Way(target, Transport.HTTP, context.options.access, bool(target.command))


async def _play(way: Way, context: MeasurementContext, seeds: Seeds) -> Played:
    timeout = context.options.timeout
    options = RecordOptions(seeds=seeds, access=way.access, timeout=timeout)
    session = RecordingSession(way.target, options)
    bundle = await session.record([(way.transport, facts) for facts in _facts(context, way.transport)])
    replay = ReplaySession(bundle, way.target, ReplayOptions(access=way.access, timeout=timeout))
    traces, problems = {}, []
    for conversation in bundle.manifest.conversations:
        traces[conversation.file], broken = await replay.perform(conversation)
        problems += [] if broken is None else [f"the replay of {conversation.file} broke off: {broken}"]
    return Played(bundle, traces, problems)


def _facts(context: MeasurementContext, transport: str) -> list[Facts]:
    """What was found out when the server was judged. Only tools that read are called: what others change
    may be there in the replay."""
    return [
        msgspec.structs.replace(facts, permission=Permission.READ_ONLY)
        for record in context.run.subjects
        if record.transport == transport
        for facts in record.facts
    ]


def _merged(bundles: list[ReplayBundle]) -> ReplayBundle:
    conversations = [each for bundle in bundles for each in bundle.manifest.conversations]
    manifest = msgspec.structs.replace(bundles[0].manifest, conversations=conversations)
    return ReplayBundle(
        manifest, {name: trace for bundle in bundles for name, trace in bundle.traces.items()}
    )


def figures_of(files: Mapping[str, bytes]) -> dict[str, float]:
    """Compare the stored recording with the stored replay.

    Raises:
        InvalidOptions: a file is not as it was recorded.
    """
    bundle = parse_bundle(files)
    comparisons = [compare(trace, _again(files, name)) for name, trace in bundle.traces.items()]
    pairs, matched = sum(each.pairs for each in comparisons), sum(each.matched for each in comparisons)
    rate = matched / pairs if pairs else 0.0
    return {"pairs": float(pairs), "matched": float(matched), "success_rate": round(rate, 6)}


def _again(files: Mapping[str, bytes], name: str) -> Trace:
    try:
        return parse_trace(files.get(f"{AGAIN}{name}", b""), f"{AGAIN}{name}")
    except (BadTrace, RecursionError) as error:
        raise InvalidOptions(str(error), "certify the server again") from error
