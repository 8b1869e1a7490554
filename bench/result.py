"""The measurements of a run, as they are stored."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any, Final

import msgspec

HERE: Final = Path(__file__).parent
STORED: Final = HERE / "result.json"
"""The last full run, under version control. The tables in the documentation are generated from it."""


class Sample(msgspec.Struct, frozen=True):
    """One subject under load in one round. CPU shares are of one core."""

    round: int
    rate: float
    p50_us: float
    p99_us: float
    server_cpu: float
    client_cpu: float
    rss_mb: float

    @property
    def cpu_us(self) -> float:
        """CPU time of the server per call."""
        return self.server_cpu / self.rate * 1e6


class ClientSample(msgspec.Struct, frozen=True, kw_only=True):
    """One client in one round."""

    round: int
    rate: float
    p50_us: float
    p99_us: float
    cpu_us: float
    """CPU time of the client per call."""


class Spawns(msgspec.Struct, frozen=True):
    """Milliseconds from the start of the process to the answer to `initialize`, of one subject in one
    round."""

    round: int
    ms: list[float]


class Result(msgspec.Struct, kw_only=True):
    """One run. Void measurements are not among the samples, but listed in `voids`."""

    mode: str
    started: str
    seconds: float = 0.0
    machine: dict[str, Any]
    versions: dict[str, str]
    settings: dict[str, Any]
    http: dict[str, list[Sample]] = {}
    http_per_request: dict[str, list[Sample]] = {}
    """The same in the revision where each request describes itself."""
    stdio: dict[str, list[Sample]] = {}
    """Client and server on one core, which gives reproducible figures."""
    stdio_free: dict[str, list[Sample]] = {}
    """The same without pinning; depends on the sleep states of the cores."""
    wires: dict[str, list[Sample]] = {}
    """Assay on its own server, by wire and number of connections: `http 1`, `ws 1`, …"""
    profile: dict[str, list[Sample]] = {}
    """Assay with parts of the marketplace profile; see `profile_load.py`."""
    spawn: dict[str, list[Spawns]] = {}
    tools_us: dict[str, list[float]] = {}
    state_us: list[float] = []
    """Microseconds to sign and open request state, the median of each batch."""
    token_us: dict[str, list[float]] = {}
    """Microseconds to authorize a request with a `known` or a `new` token, the median of each batch."""
    clients_run: str = ""
    """When and how the clients were measured, if that was another run."""
    clients: dict[str, dict[str, list[ClientSample]]] = {}
    """By kind of load (see `client_load.py`) and client."""
    import_ms: dict[str, list[float]] = {}
    """Milliseconds of imports in new processes; the names are those of `client_load.IMPORTS`."""
    listing_ms: list[float] = []
    """Milliseconds of `assay tools` on a server less those that the server takes to start."""
    voids: list[str] = []

    def samples(self, transport: str, name: str) -> list[Sample]:
        """`transport` is the name of one of the tables above."""
        return self.samples_of(transport).get(name, [])

    def samples_of(self, transport: str) -> dict[str, list[Sample]]:
        table: dict[str, list[Sample]] = getattr(self, transport)
        return table

    def rate(self, transport: str, name: str) -> float | None:
        return _median([sample.rate for sample in self.samples(transport, name)])

    def rss(self, transport: str, name: str) -> float | None:
        """The highest value of any round."""
        return max((sample.rss_mb for sample in self.samples(transport, name)), default=None)

    def spawn_ms(self, name: str) -> float | None:
        return _median([ms for spawns in self.spawn.get(name, []) for ms in spawns.ms])

    def rate_ratio(self, transport: str, name: str, other: str) -> float | None:
        """Median of the ratios per round: measurements close in time share their noise."""
        ours = {sample.round: sample.rate for sample in self.samples(transport, name)}
        theirs = {sample.round: sample.rate for sample in self.samples(transport, other)}
        return _median([ours[number] / theirs[number] for number in ours.keys() & theirs.keys()])

    def wire_ratio(self, name: str) -> float | None:
        """Speed of a subject without a handshake, relative to its speed with one."""
        new = {sample.round: sample.rate for sample in self.http_per_request.get(name, [])}
        old = {sample.round: sample.rate for sample in self.http.get(name, [])}
        return _median([new[number] / old[number] for number in new.keys() & old.keys()])

    def websocket_ratio(self, connections: int) -> float | None:
        """WebSocket calls per HTTP call."""
        framed = {sample.round: sample.rate for sample in self.wires.get(f"ws {connections}", [])}
        posted = {sample.round: sample.rate for sample in self.wires.get(f"http {connections}", [])}
        return _median([framed[number] / posted[number] for number in framed.keys() & posted.keys()])

    def client_ratio(self, kind: str, name: str, other: str) -> float | None:
        """Calls per second of a client, relative to another one in the same round."""
        samples = self.clients.get(kind, {})
        ours = {sample.round: sample.rate for sample in samples.get(name, [])}
        theirs = {sample.round: sample.rate for sample in samples.get(other, [])}
        return _median([ours[number] / theirs[number] for number in ours.keys() & theirs.keys()])

    def import_ratio(self) -> float | None:
        """Of the best times: what disturbs an import only makes it longer."""
        if not self.import_ms:
            return None
        return min(self.import_ms["client"]) / min(self.import_ms["bare"])

    def listing_cost(self) -> float | None:
        return _median(self.listing_ms)

    def state_cost(self) -> float | None:
        return _median(self.state_us)

    def token_cost(self, kind: str) -> float | None:
        return _median(self.token_us.get(kind, []))

    def cpu_ratio(self, transport: str, name: str, other: str) -> float | None:
        """CPU time per call of the other server, relative to this one."""
        ours = {sample.round: sample.cpu_us for sample in self.samples(transport, name)}
        theirs = {sample.round: sample.cpu_us for sample in self.samples(transport, other)}
        return _median([theirs[number] / ours[number] for number in ours.keys() & theirs.keys()])

    def spawn_ratio(self, name: str, other: str) -> float | None:
        ours = {spawns.round: median(spawns.ms) for spawns in self.spawn.get(name, [])}
        theirs = {spawns.round: median(spawns.ms) for spawns in self.spawn.get(other, [])}
        return _median([ours[number] / theirs[number] for number in ours.keys() & theirs.keys()])

    def tools_spread(self) -> float | None:
        """Relative difference between the most and the least expensive number of tools.

        The cheapest batch of each counts: the same code does the same work every time, so anything above that
        is noise from other processes.
        """
        costs = [min(batches) for batches in self.tools_us.values() if batches]
        return max(costs) / min(costs) - 1 if len(costs) > 1 else None


def _median(values: list[float]) -> float | None:
    return median(values) if values else None


def store(result: Result, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rounded = msgspec.json.Decoder(float_hook=_short).decode(msgspec.json.encode(result))
    path.write_bytes(msgspec.json.format(msgspec.json.encode(rounded), indent=1) + b"\n")


def _short(text: str) -> float:
    """Four significant digits: more would be noise."""
    return float(f"{float(text):.4g}")


def with_clients(stored: Result, run: Result) -> Result:
    """A stored result with the clients of a run that measured only these."""
    about = (
        f"{run.mode} run of {run.started}, {run.seconds:.0f} s, other work {run.machine['other_work']:.0%}"
    )
    return msgspec.structs.replace(
        stored,
        clients_run=about,
        clients=run.clients,
        import_ms=run.import_ms,
        listing_ms=run.listing_ms,
    )


def load(path: Path = STORED) -> Result:
    return msgspec.json.decode(path.read_bytes(), type=Result)
