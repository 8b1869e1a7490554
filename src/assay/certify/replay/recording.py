"""Record a bundle: find out what the server offers, then have one seeded conversation for each transport and
revision, each with a server that was just started."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from assay.lab.access import Credentials
from assay.lab.error import CannotJudge
from assay.lab.extra import require_lab
from assay.lab.harness.golden.golden import seal_of
from assay.lab.harness.golden.normaliser import BUILT_IN, OMITTED, VALUES
from assay.lab.harness.links.broken_off import BrokenOff, Gone, Unreachable
from assay.lab.harness.run.recording import Conditions, Recording, now, record
from assay.lab.harness.run.run import SubjectRecord
from assay.lab.harness.run.runner import SubjectDown
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.subject.subject import Subject
from assay.lab.harness.trace.trace import Trace
from assay.lab.options import JudgeOptions
from assay.lab.server_run import ServerConduct, scenario_limit
from assay.lab.subjects import as_target, not_there, url_of
from assay.lab.target import Target
from assay.model.version import VERSION
from assay.revisions.registry import BY_DATE

from .bundle import FORMAT, MAX_CONVERSATIONS, Conversation, Manifest, ReplayBundle, write_bundle
from .conversation import Converse, ask, ask_everything, read_requests
from .options import RecordOptions
from .profile_value import PROFILE_VALUES
from .secret import learn_secrets, refuse_secrets
from .seed import digests
from .seeded_target import seeded, subject_for

DEFAULTS = RecordOptions()
SCENARIO = "replay"
"""Scenario name in the traces of a bundle."""


async def record_bundle(target: Target | str, options: RecordOptions = DEFAULTS) -> ReplayBundle:
    """Record conversations with a server, and write them if the options name a directory.

    Raises:
        LabError: nothing was recorded; the subclass says why.
        MissingExtra: a library of the lab is not installed.
    """
    require_lab()
    session = RecordingSession(as_target(target), options)
    bundle = await session.record()
    if options.out is not None:
        write_bundle(options.out, bundle, force=options.force)
    return bundle


class RecordingSession:
    def __init__(self, target: Target, options: RecordOptions) -> None:
        """
        Raises:
            InvalidOptions: the options cannot be used.
        """
        self._target = target
        self._options = options
        self._seeds = options.seeds.filled()
        self._environment = digests(options.env)
        self._converse: Converse = (
            ask(read_requests(options.requests)) if options.requests else ask_everything
        )
        self._credentials = Credentials(options.access, url_of(target))
        learn_secrets(self._credentials.redaction)
        self._conduct = ServerConduct(
            seeded(target, self._seeds.environment),
            JudgeOptions(
                transport=options.transport,
                spec_version=options.spec_version,
                access=options.access,
                allow_effects=options.allow_effects,
                arguments=options.arguments,
                timeout=options.timeout,
            ),
        )

    async def record(self, known: Sequence[tuple[str, Facts]] | None = None) -> ReplayBundle:
        """Record a conversation for each transport with facts about the server there; without them, these
        are found out first.

        Raises:
            LabError: nothing was recorded.
        """
        if known is None:
            known = await self._discover()
        if not known:
            problem = "the server supports none of the selected revisions"
            raise CannotJudge(problem, "leave out --spec-version; does it speak MCP there?")
        if len(known) > MAX_CONVERSATIONS:
            raise CannotJudge(
                f"{len(known)} conversations; a bundle holds {MAX_CONVERSATIONS}", "select fewer"
            )
        traces = {}
        for transport, facts in known:
            name = f"{transport}-{facts.revision}.ndjson"
            traces[name] = await self._conversation(transport, facts)
            refuse_secrets(traces[name], name)
        return ReplayBundle(self._manifest(traces, known[0][1]), traces)

    async def _discover(self) -> list[tuple[str, Facts]]:
        try:
            return list(_facts(await self._conduct.discover()))
        except SubjectDown as down:
            raise self._conduct.not_there(down) from down

    async def _conversation(self, transport: str, facts: Facts) -> Trace:
        subject = subject_for(self._target, self._seeds.environment, transport, self._credentials)
        conditions = await conditions_of(self._credentials, self._options.timeout)
        recording = await perform(subject, facts, self._converse, conditions, self._target)
        if recording.broken is not None:
            problem = f"the conversation on {transport} at {facts.revision} broke off: {recording.broken}"
            raise CannotJudge(problem, "a slow server gets more time with --timeout")
        header = msgspec.structs.replace(recording.trace.header, again="")
        return Trace(header, recording.trace.frames)

    def _manifest(self, traces: dict[str, Trace], facts: Facts) -> Manifest:
        return Manifest(
            format=FORMAT,
            assay=VERSION,
            created=now(),
            server=str(facts.server.get("name", ""))[:500],
            version=str(facts.server.get("version", ""))[:500],
            seeds=self._seeds,
            environment=self._environment,
            normalisers=[rule.name for rule in (*VALUES, *PROFILE_VALUES, *OMITTED, *BUILT_IN)],
            conversations=[
                Conversation(name, trace.transport, trace.header.revision, len(trace.frames), seal_of(trace))
                for name, trace in traces.items()
            ],
        )


def _facts(records: Sequence[SubjectRecord]) -> Iterator[tuple[str, Facts]]:
    for subject in records:
        for facts in subject.facts:
            yield subject.transport, facts


async def conditions_of(credentials: Credentials, timeout: float) -> Conditions:
    """
    Raises:
        CannotJudge: no token could be obtained.
    """
    await credentials.fetch_tokens()
    return Conditions(
        patience=timeout,
        limit=10 * scenario_limit(timeout),
        redaction=credentials.redaction,
        tokens=credentials.tokens,
    )


async def perform(
    subject: Subject, facts: Facts, converse: Converse, conditions: Conditions, target: Target
) -> Recording:
    """Start a subject, record one conversation with it, and stop it.

    Raises:
        LabError: it did not start.
    """
    revision = BY_DATE[facts.revision]
    try:
        await subject.start()
        recording = await record(SCENARIO, subject, revision, converse, facts, conditions)
    except Unreachable as reason:
        raise _down(subject, reason, target, conditions) from reason
    finally:
        await subject.stop()
    broken = recording.broken
    if isinstance(broken, Unreachable) or (isinstance(broken, Gone) and not recording.trace.received):
        raise _down(subject, broken, target, conditions)
    return recording


def _down(subject: Subject, reason: BrokenOff, target: Target, conditions: Conditions) -> Exception:
    down = SubjectDown(conditions.redaction.string(subject.name), reason)
    error = not_there(down, target)
    error.__cause__ = down
    return error
