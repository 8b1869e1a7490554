"""An authority and two servers that it protects, each behind a recorder, with everything they write kept."""

import asyncio
import re
import secrets
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import jwt.algorithms
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from assay.authority.record import StoredKey
from assay.authority.sqlite import SqliteStore
from assay.authority.store import RecordTable
from interop.between import HOST
from interop.children import START_TIMEOUT, child
from interop.oauth.recorder import Recorder, Secret, recording, secrets_in
from interop.official import Aborted, Exit, tail
from interop.official_authority import CLIENT, free_port

STEPPED = Path(__file__).parent.parent / "peers" / "protected.py"
ROBOT = "robot"
SCOPES = ("use", "write", "look")
# Seconds: every journey waits for it three times. Servers allow for clocks that differ, clients do not.
LIFETIME = 2.0
# Everything that any library would say is asked for: what is not logged at this level is never logged.
LOUD = (
    "import logging, sys; logging.basicConfig(level=logging.DEBUG); "
    "from assay.cli.main import main; sys.exit(main())"
)
ASSAY = (sys.executable, "-c", LOUD)
SERVED = re.compile(rb"MCP endpoint: http://localhost:(\d+)/mcp")
ISSUED = re.compile(rb"issuer: ()http")


class Key:
    """A key that never leaves the client."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        form = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        self.pem = self._key.private_bytes(serialization.Encoding.PEM, *form).decode()

    @property
    def public(self) -> dict[str, Any]:
        return jwt.algorithms.ECAlgorithm.to_jwk(self._key.public_key(), as_dict=True)

    @property
    def secrets(self) -> set[Secret]:
        private = jwt.algorithms.ECAlgorithm.to_jwk(self._key, as_dict=True)["d"]
        return {Secret("private key", private), *secrets_of(self.pem)}


def secrets_of(pem: str) -> set[Secret]:
    """The lines of a private key; the first begins as that of every key of its kind, and is left out."""
    return {Secret("private key", line) for line in pem.splitlines()[2:-1]}


@dataclass
class Scene:
    """Where everything is, and what must not be written anywhere."""

    directory: Path
    opaque: bool
    issuer: str = ""
    reference: str = ""
    stepped: str = ""
    keyed: str = ""
    authority: Recorder = field(default_factory=Recorder)
    servers: list[Recorder] = field(default_factory=list)
    robot_secret: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    key: Key = field(default_factory=Key, repr=False)
    signing: set[Secret] = field(default_factory=set, repr=False)
    """The private keys of the authority itself."""

    @property
    def store(self) -> Path:
        return self.directory / "authority.db"

    def secrets(self) -> set[Secret]:
        """All that were said, and those that never are."""
        own = {Secret("client secret", self.robot_secret), *self.key.secrets}
        return own.union(*(secrets_in(recorder.talks) for recorder in (self.authority, *self.servers)))

    def answers(self) -> list[tuple[str, bytes]]:
        """All that the protected servers answered: they give out no secret."""
        talks = [talk for server in self.servers for talk in server.talks]
        return [(f"status {status}", text) for talk in talks for status, text in talk.answers()]

    def refusals(self) -> list[tuple[str, bytes]]:
        """What the authority answered when it gave nothing."""
        answers = [answer for talk in self.authority.talks for answer in talk.answers()]
        return [(f"status {status}", text) for status, text in answers if status >= 400]


@asynccontextmanager
async def staged(directory: Path, *, opaque: bool) -> AsyncIterator[Scene]:
    """Start all of it."""
    directory.mkdir(parents=True)
    scene = Scene(directory, opaque)
    async with recording() as scene.authority, recording() as reference, recording() as stepped:
        scene.servers = [reference, stepped]
        scene.issuer = f"http://{HOST}:{scene.authority.port}"
        scene.authority.target = free_port()
        scene.reference, scene.stepped = (f"http://localhost:{server.port}/mcp" for server in scene.servers)
        secret = {"ASSAY_CLIENT_SECRET": scene.robot_secret}
        async with (
            started(authority_command(scene), directory / "authority", ISSUED) as ready,
            started(
                server_command(scene, "reference", scene.reference), directory / "reference", SERVED, secret
            ) as first,
            started(
                server_command(scene, str(STEPPED), scene.stepped), directory / "stepped", SERVED, secret
            ) as second,
        ):
            await ready
            reference.target, stepped.target = await first, await second
            scene.keyed = await registered(scene)
            scene.signing = signing_keys(scene.store)
            yield scene


def authority_command(scene: Scene) -> tuple[str, ...]:
    command = [
        *ASSAY,
        "authority",
        "--verbose",
        "--port",
        str(scene.authority.target),
        "--issuer",
        scene.issuer,
    ]
    command += ["--auto-approve", "--dev-mint", "--access-lifetime", str(LIFETIME)]
    command += ["--store", str(scene.store), "--client", f"{ROBOT}:{scene.robot_secret}", "--client", CLIENT]
    command += [word for scope in SCOPES for word in ("--scope", scope)]
    return (*command, *(["--opaque"] if scene.opaque else []))


def server_command(scene: Scene, target: str, url: str) -> tuple[str, ...]:
    return (*ASSAY, "serve", target, "--transport", "http", "--port", "0", "--auth", auth(scene, url))


def auth(scene: Scene, url: str) -> str:
    text = f"issuer={scene.issuer},audience={url},scopes=use"
    return f"{text},introspection={scene.issuer}/introspect,client_id={ROBOT}" if scene.opaque else text


@asynccontextmanager
async def started(
    command: Sequence[str], place: Path, ready: re.Pattern[bytes], secret: Mapping[str, str] | None = None
) -> AsyncIterator[Awaitable[int]]:
    """Keep both outputs of a command beside `place`; give the number that it will say when it is ready."""
    async with child(command, place.with_suffix(".err"), secret) as process:
        said: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        reading = asyncio.create_task(keep(process, place.with_suffix(".out"), ready, said))
        yield in_time(said, place)
    await reading


async def in_time(said: asyncio.Future[int], place: Path) -> int:
    """
    Raises:
        Aborted: it was not said in time. The command is not told: it holds secrets.
    """
    try:
        return await asyncio.wait_for(said, START_TIMEOUT)
    except TimeoutError:
        problem = f"{place.name} did not start:\n{tail(place.with_suffix('.err'))}"
        raise Aborted(Exit.SERVER_DID_NOT_START, problem) from None


async def keep(process: Process, file: Path, ready: re.Pattern[bytes], said: asyncio.Future[int]) -> None:
    assert process.stdout is not None
    with file.open("wb") as kept:
        while line := await process.stdout.readline():
            kept.write(line)
            if (match := ready.search(line)) and not said.done():
                said.set_result(int(match[1] or 0))
    if not said.done():
        said.set_exception(TimeoutError())


async def registered(scene: Scene) -> str:
    """A client that proves by a key who it is, and acts for itself."""
    about = {
        "client_name": "keyed",
        "token_endpoint_auth_method": "private_key_jwt",
        "grant_types": ["client_credentials"],
        "jwks": {"keys": [scene.key.public]},
    }
    async with httpx2.AsyncClient() as http:
        answer = await http.post(f"{scene.issuer}/register", json=about)
    if answer.status_code != 201:
        raise Aborted(Exit.COULD_NOT_RUN, f"the authority did not take a client in: {answer.text}")
    return str(answer.json()["client_id"])


def signing_keys(file: Path) -> set[Secret]:
    store = SqliteStore(file)
    try:
        return {
            secret for _, key in RecordTable(store, "key", StoredKey).all() for secret in secrets_of(key.pem)
        }
    finally:
        store.close()
