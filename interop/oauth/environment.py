"""An authority and two protected servers, each behind a recorder, with all their output stored."""

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
from interop.child_process import START_TIMEOUT, child
from interop.oauth.recorder import Recorder, Secret, recording, secrets_in
from interop.official import Aborted, Exit, tail
from interop.official_authority import CLIENT, free_port
from interop.tcp_relay import HOST

STEPPED = Path(__file__).parent.parent / "peers" / "protected.py"
ROBOT = "robot"
SCOPES = ("use", "write", "look")
# Seconds; every flow waits for it three times. Servers allow for clock skew, clients do not.
LIFETIME = 2.0
# All libraries log at DEBUG: what is not logged at this level is never logged.
DEBUG_MAIN = (
    "import logging, sys; logging.basicConfig(level=logging.DEBUG); "
    "from assay.cli.main import main; sys.exit(main())"
)
ASSAY = (sys.executable, "-c", DEBUG_MAIN)
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
    """The lines of a private key, without the first, whose beginning is the same for all keys of its kind."""
    return {Secret("private key", line) for line in pem.splitlines()[2:-1]}


@dataclass
class OAuthEnvironment:
    """Addresses, files and secrets of the environment."""

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
    """The authority's private keys."""

    @property
    def store(self) -> Path:
        return self.directory / "authority.db"

    def secrets(self) -> set[Secret]:
        """All secrets on the wire, and those that are never sent."""
        own = {Secret("client secret", self.robot_secret), *self.key.secrets}
        return own.union(
            *(secrets_in(recorder.conversations) for recorder in (self.authority, *self.servers))
        )

    def answers(self) -> list[tuple[str, bytes]]:
        """All responses of the protected servers, which must not contain secrets."""
        conversations = [conversation for server in self.servers for conversation in server.conversations]
        return [
            (f"status {status}", text)
            for conversation in conversations
            for status, text in conversation.answers()
        ]

    def refusals(self) -> list[tuple[str, bytes]]:
        """The error responses of the authority."""
        answers = [
            answer for conversation in self.authority.conversations for answer in conversation.answers()
        ]
        return [(f"status {status}", text) for status, text in answers if status >= 400]


@asynccontextmanager
async def running_environment(directory: Path, *, opaque: bool) -> AsyncIterator[OAuthEnvironment]:
    """Start the authority and both servers."""
    directory.mkdir(parents=True)
    environment = OAuthEnvironment(directory, opaque)
    async with recording() as environment.authority, recording() as reference, recording() as stepped:
        environment.servers = [reference, stepped]
        environment.issuer = f"http://{HOST}:{environment.authority.port}"
        environment.authority.target = free_port()
        environment.reference, environment.stepped = (
            f"http://localhost:{server.port}/mcp" for server in environment.servers
        )
        secret = {"ASSAY_CLIENT_SECRET": environment.robot_secret}
        async with (
            started(authority_command(environment), directory / "authority", ISSUED) as ready,
            started(
                server_command(environment, "reference", environment.reference),
                directory / "reference",
                SERVED,
                secret,
            ) as first,
            started(
                server_command(environment, str(STEPPED), environment.stepped),
                directory / "stepped",
                SERVED,
                secret,
            ) as second,
        ):
            await ready
            reference.target, stepped.target = await first, await second
            environment.keyed = await register_client(environment)
            environment.signing = signing_keys(environment.store)
            yield environment


def authority_command(environment: OAuthEnvironment) -> tuple[str, ...]:
    command = [
        *ASSAY,
        "authority",
        "--verbose",
        "--port",
        str(environment.authority.target),
        "--issuer",
        environment.issuer,
    ]
    command += ["--auto-approve", "--dev-mint", "--access-lifetime", str(LIFETIME)]
    command += [
        "--store",
        str(environment.store),
        "--client",
        f"{ROBOT}:{environment.robot_secret}",
        "--client",
        CLIENT,
    ]
    command += [word for scope in SCOPES for word in ("--scope", scope)]
    return (*command, *(["--opaque"] if environment.opaque else []))


def server_command(environment: OAuthEnvironment, target: str, url: str) -> tuple[str, ...]:
    return (*ASSAY, "serve", target, "--transport", "http", "--port", "0", "--auth", auth(environment, url))


def auth(environment: OAuthEnvironment, url: str) -> str:
    text = f"issuer={environment.issuer},audience={url},scopes=use"
    return (
        f"{text},introspection={environment.issuer}/introspect,client_id={ROBOT}"
        if environment.opaque
        else text
    )


@asynccontextmanager
async def started(
    command: Sequence[str], place: Path, ready: re.Pattern[bytes], secret: Mapping[str, str] | None = None
) -> AsyncIterator[Awaitable[int]]:
    """Store both outputs of a command beside `place`; yield the number of its ready message."""
    async with child(command, place.with_suffix(".err"), secret) as process:
        number: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        reader = asyncio.create_task(keep(process, place.with_suffix(".out"), ready, number))
        yield in_time(number, place)
    await reader


async def in_time(number: asyncio.Future[int], place: Path) -> int:
    """
    Raises:
        Aborted: a time-out. The message omits the command, which contains secrets.
    """
    try:
        return await asyncio.wait_for(number, START_TIMEOUT)
    except TimeoutError:
        problem = f"{place.name} did not start:\n{tail(place.with_suffix('.err'))}"
        raise Aborted(Exit.SERVER_DID_NOT_START, problem) from None


async def keep(process: Process, file: Path, ready: re.Pattern[bytes], number: asyncio.Future[int]) -> None:
    assert process.stdout is not None
    with file.open("wb") as output:
        while line := await process.stdout.readline():
            output.write(line)
            if (match := ready.search(line)) and not number.done():
                number.set_result(int(match[1] or 0))
    if not number.done():
        number.set_exception(TimeoutError())


async def register_client(environment: OAuthEnvironment) -> str:
    """Register a client with `private_key_jwt` and client credentials."""
    about = {
        "client_name": "keyed",
        "token_endpoint_auth_method": "private_key_jwt",
        "grant_types": ["client_credentials"],
        "jwks": {"keys": [environment.key.public]},
    }
    async with httpx2.AsyncClient() as http:
        answer = await http.post(f"{environment.issuer}/register", json=about)
    if answer.status_code != 201:
        raise Aborted(Exit.COULD_NOT_RUN, f"the authority did not register a client: {answer.text}")
    return str(answer.json()["client_id"])


def signing_keys(file: Path) -> set[Secret]:
    store = SqliteStore(file)
    try:
        return {
            secret for _, key in RecordTable(store, "key", StoredKey).all() for secret in secrets_of(key.pem)
        }
    finally:
        store.close()
