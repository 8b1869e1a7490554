"""Load a server: `load` waits for the result, `follow_load` shows it as it goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec.structs import replace

from assay.lab.access import Credentials
from assay.lab.argument_file import arguments_from
from assay.lab.error import CannotJudge, InvalidOptions
from assay.lab.extra import require_lab
from assay.lab.harness.links.broken_off import NoToken, Unreachable
from assay.lab.harness.links.http_call import Address
from assay.lab.harness.run.recording import Conditions, now
from assay.lab.harness.run.runner import SubjectDown, uninterrupted
from assay.lab.harness.subject.bearer import USUAL
from assay.lab.harness.subject.facts import Permission
from assay.lab.harness.subject.subject import CommandSubject, Subject, UrlSubject
from assay.lab.harness.transport import Transport
from assay.lab.live import Live
from assay.lab.selection import revisions_of
from assay.lab.subjects import as_target, not_there, subjects_of, url_of
from assay.lab.target import Target
from assay.model.version import VERSION

from .discovery import Known, call_tools, discover_newest
from .endpoint import Endpoint
from .floor import measure_floor
from .generator import SESSIONS, Pace
from .measurement import (
    LoadProgress,
    Measured,
    Measurement,
    answer_rate,
    cost_of,
    machine,
    messages_of,
    remarks_of,
    saturation_of,
    seconds_of,
    timeline_of,
)
from .operation import Operation, encode
from .options import DEFAULT_USERS, LoadOptions
from .probe import working
from .relay import impaired
from .result import FORMAT, Floor, LoadPace, LoadResult, latency_of
from .slo import Objective, judge_objectives, parse_objectives
from .traffic import Traffic, calls_of, cycle_of, parse_scenario, traffic_of
from .usage import listener_of
from .wire import OpeningFailed, WireSettings

DEFAULTS: Final = LoadOptions()
Report = Callable[[LoadProgress], None]


async def load(target: Target | str, options: LoadOptions = DEFAULTS) -> LoadResult:
    """Put load on a server, and return what was measured.

    Raises:
        LabError: nothing was measured; the subclass says why.
        MissingExtra: a library of the lab is not installed.
    """
    return await follow_load(target, options).wait()


def follow_load(target: Target | str, options: LoadOptions = DEFAULTS) -> Live[LoadProgress, LoadResult]:
    """The same, with events to follow. Stopped early, its result holds what was measured so far.

    Raises:
        InvalidOptions: the options cannot be used. Nothing has been started then.
        MissingExtra: a library of the lab is not installed.
    """
    require_lab()
    return Live(LoadTest(as_target(target), options).run)


class LoadTest:
    def __init__(self, target: Target, options: LoadOptions) -> None:
        """
        Raises:
            InvalidOptions: the options cannot be used.
        """
        self._target = target
        self._options = options
        self._credentials = Credentials(options.access, url_of(target))
        transports = () if options.transport is None else (options.transport,)
        [self._subject] = subjects_of(target, transports, self._credentials)
        self._revisions = revisions_of(() if options.spec_version is None else (options.spec_version,))
        self._weights = parse_scenario(options.scenario)
        self._objectives = parse_objectives(options.slo)
        self._arguments = arguments_from(options.arguments)
        if options.rate is not None and options.think:
            raise InvalidOptions("--think is for virtual users, and --rate has none", "leave one out")

    async def run(self, report: Report) -> LoadResult:
        try:
            await self.start()
            return await self.measure(self._options, report)
        finally:
            await self.stop()

    async def start(self) -> None:
        """Start or reach the server, and find out what it offers.

        Raises:
            LabError: that did not work.
        """
        try:
            await self._start()
            self._known = await self._discover()
        except SubjectDown as down:
            raise not_there(down, self._target) from down

    async def stop(self) -> None:
        await uninterrupted(self._subject.stop())

    async def _start(self) -> None:
        subject = self._subject
        try:
            await subject.start()
        except Unreachable as reason:
            raise SubjectDown(self._name, reason) from reason
        if subject.transport is Transport.HTTP_SSE:
            problem = "the server only has HTTP+SSE, the transport of the first revision"
            raise CannotJudge(problem, "load is put on servers with stdio, Streamable HTTP or WebSocket")
        await self._credentials.fetch_tokens()

    @property
    def _name(self) -> str:
        return self._credentials.redaction.string(self._subject.name)

    async def _discover(self) -> Known:
        conditions = Conditions(
            patience=self._options.timeout,
            redaction=self._credentials.redaction,
            tokens=self._credentials.tokens,
        )
        known = await discover_newest(self._subject, self._revisions, conditions)
        if self._weights.keys() & {"calls", "streams"}:
            await call_tools(self._subject, known, self._permission, self._arguments, conditions)
        return known

    @property
    def quickest_tool(self) -> str | None:
        """A tool that works and may be called: the one whose first call took the least time."""
        names = [operation.params["name"] for operation in calls_of(self._known.facts)]
        calls = self._known.facts.calls
        return min(names, key=lambda name: calls[name].seconds if name in calls else 0.0, default=None)

    @property
    def _permission(self) -> Permission:
        if self._options.allow_destructive:
            return Permission.DESTRUCTIVE
        return Permission.EFFECTS if self._options.allow_effects else Permission.READ_ONLY

    async def measure(self, options: LoadOptions, report: Report = lambda progress: None) -> LoadResult:
        """Measure a server that was started. Of the options, those about traffic and pace count.

        Raises:
            LabError: nothing was measured.
        """
        traffic = self._traffic(options)
        if options.impairment is None or isinstance(self._subject, CommandSubject):
            return await self._measure(options, traffic, self._endpoint(), {}, report)
        address = Address.of(self._subject.name)
        async with impaired(address.host, address.port, options.impairment) as (relay, port):
            network = options.impairment.as_facts()
            result = await self._measure(options, traffic, self._endpoint(port), network, report)
            return replace(result, network={**network, "relay resets": relay.resets})

    def _traffic(self, options: LoadOptions) -> Traffic:
        facts = self._known.facts
        unknown = set(options.tool) - {str(tool.get("name")) for tool in facts.permitted_tools}
        if unknown:
            fix = "`assay tools TARGET` lists them; --allow-effects calls tools without `readOnlyHint`"
            raise InvalidOptions(f"no such tool, or it may not be called: {', '.join(unknown)}", fix)
        return traffic_of(facts, parse_scenario(options.scenario), options.tool)

    async def _measure(
        self,
        options: LoadOptions,
        traffic: Traffic,
        endpoint: Endpoint,
        network: dict[str, Any],
        report: Report,
    ) -> LoadResult:
        started, revision = now(), self._known.revision
        encoded = {each.name: encode(each, revision) for each in traffic.operations}
        settings = WireSettings(revision, encoded, options.timeout)
        try:
            # The network may be poor: what does not work is found out without it.
            operations, refused = await working(self._endpoint(), settings, traffic.operations)
            if not operations:
                problem = f"nothing can be measured: {'; '.join(refused)}"
                raise CannotJudge(problem, "give arguments that work with --arguments")
            cycle = cycle_of(operations, options.seed)
            pace = self._pace(options)
            floor = await self._floor(options, settings, cycle, pace)
            server, fresh = self._server_process(endpoint), self._fresh(endpoint)
            measurement = Measurement(endpoint, settings, cycle, pace, server=server, keep_fresh=fresh)
            measured = await measurement.run(options.seconds, options.warm_up, report)
        except OpeningFailed as failure:
            raise CannotJudge(f"{self._name}: no session could be opened: {failure}") from None
        about = {
            "started": started,
            "target": self._name,
            "transport": str(self._subject.transport),
            "revision": revision.date,
            "scenario": options.scenario,
            "network": network,
            "remarks": [*traffic.remarks, *refused],
        }
        return result_of(measured, cycle, pace, floor, self._objectives, about)

    def _pace(self, options: LoadOptions) -> Pace:
        return Pace(
            users=options.users or DEFAULT_USERS[self._subject.transport],
            rate=options.rate,
            think=options.think,
            poisson=options.poisson,
            seed=options.seed,
            timeout=options.timeout,
        )

    async def _floor(
        self, options: LoadOptions, settings: WireSettings, cycle: Sequence[Operation], pace: Pace
    ) -> Floor | None:
        """Not for sessions, whose limit is the start of processes and connections."""
        if not options.floor or cycle[0].kind == SESSIONS:
            return None
        return await measure_floor(self._subject.transport, settings, cycle, pace.users)

    def _endpoint(self, via: int | None = None) -> Endpoint:
        subject: Subject = self._subject
        if isinstance(subject, CommandSubject):
            environment = {**subject.environment, **self._options.environment}
            return Endpoint(Transport.STDIO, command=subject.command, environment=environment)
        return Endpoint(
            subject.transport,
            url=subject.name,
            headers=self._current_headers(),
            identity=self._credentials.identity,
            via=via,
        )

    def _current_headers(self) -> dict[str, str]:
        token = self._credentials.tokens.get(USUAL)
        own = {} if token is None else {"Authorization": f"Bearer {token}"}
        return {**self._credentials.headers, **own}

    def _fresh(self, endpoint: Endpoint) -> Callable[[], Any]:
        async def keep_fresh() -> bool:
            try:
                await self._credentials.tokens.keep_fresh()
            except NoToken:
                return False  # if the old one has expired, the server's answers show it
            headers = self._current_headers()
            changed = headers != endpoint.headers
            endpoint.headers = headers
            return changed

        return keep_fresh

    def _server_process(self, endpoint: Endpoint) -> int | None:
        if isinstance(self._subject, UrlSubject) and self._subject.process_id is not None:
            return self._subject.process_id
        address = endpoint.address
        return listener_of(address.port) if address is not None and address.is_local else None


def result_of(
    measured: Measured,
    cycle: Sequence[Operation],
    pace: Pace,
    floor: Floor | None,
    objectives: list[Objective],
    about: dict[str, Any],
) -> LoadResult:
    tally = measured.tally
    saturated = saturation_of(measured, pace, floor)
    messages, message_histogram = messages_of(tally)
    traffic: dict[str, int] = {}
    for operation in cycle:
        traffic[operation.name] = traffic.get(operation.name, 0) + 1
    result = LoadResult(
        format=FORMAT,
        assay=VERSION,
        traffic=traffic,
        pace=LoadPace(pace.users, pace.rate, pace.think, pace.poisson),
        seconds=round(seconds_of(tally), 3),
        operations=tally.operations,
        errors=dict(tally.errors.most_common()),
        error_rate=tally.failed / tally.operations if tally.operations else 0.0,
        rate=None if saturated else answer_rate(tally),
        latency=None if saturated else latency_of(tally.latencies()),
        kinds={} if saturated else _by_kind(measured),
        messages=None if saturated else messages,
        timeline=timeline_of(tally),
        server=measured.server,
        generator=cost_of(measured),
        floor=floor,
        saturated=saturated,
        interrupted=measured.interrupted,
        machine=machine(),
        histograms={kind: each.buckets() for kind, each in tally.kinds.items()},
        message_histogram=message_histogram.buckets(),
        **{**about, "remarks": [*about["remarks"], *remarks_of(measured, pace)]},
    )
    return replace(result, objectives=judge_objectives(objectives, result))


def _by_kind(measured: Measured) -> dict[str, Any]:
    kinds = {kind: latency_of(each) for kind, each in measured.tally.kinds.items()}
    return {kind: latency for kind, latency in kinds.items() if latency is not None}
