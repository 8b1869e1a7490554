"""Request state goes through the client's hands: it is believed only where and while it belongs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay import Context, Limits, Server
from assay.protocol.seal import BrokenSeal, HmacSealer
from assay.server.sealer import EncryptingSealer
from tests.driving.describing import DescribingClient, accepted, answering, text_of

FORM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
KEY, OTHER_KEY = b"k" * 32, b"o" * 32
CHANGED = "requestState was changed, or does not come from this server"
ELSEWHERE = "requestState belongs to another request"


def make_server(**options: Any) -> Server:
    server = Server("test", **{"sealing": [KEY], **options})

    async def greet(ctx: Context, greeting: str = "Hello") -> str:
        elicited = await ctx.elicit("Who?", FORM, key="who")
        return f"{greeting}, {elicited.content['name']}"

    server.tool(greet)
    server.tool(name="welcome")(greet)
    server.prompt(name="greet")(greet)
    server.resource("greet://{greeting}")(greet)
    return server


def client_of(server: Server | None = None, principal: Any = None) -> DescribingClient:
    return DescribingClient(server or make_server(), principal=principal)


async def refusal(client: DescribingClient, params: dict[str, Any], method: str = "tools/call") -> Any:
    error = await client.error(method, params)
    return error["code"], error["message"]


def call(reply: dict[str, Any], name: str = "greet", **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments, **answering(reply, who=accepted(name="Ada"))}


async def test_state_is_refused_for_every_single_changed_character() -> None:
    client = client_of()
    reply = await client.call("greet")
    state: str = reply["requestState"]
    for place in range(0, len(state), 7):
        other = "A" if state[place] != "A" else "B"
        changed = reply | {"requestState": state[:place] + other + state[place + 1 :]}
        assert await refusal(client, call(changed)) == (-32602, CHANGED)


@pytest.mark.parametrize(
    "change",
    [
        lambda state: "",
        lambda state: state[:-1],
        lambda state: state[1:],
        lambda state: state[: len(state) // 2],
        lambda state: state.partition(".")[0],
        lambda state: state.partition(".")[0] + ".",
        lambda state: state + "A",
        lambda state: state + "=",
        lambda state: f" {state}",
        lambda state: state.upper(),
        lambda state: "ä" + state,
        lambda state: "not a state at all",
        lambda state: HmacSealer([KEY]).seal(b"not JSON"),
        lambda state: HmacSealer([KEY]).seal(b"{}"),
    ],
)
async def test_state_that_was_changed_is_refused(change: Any) -> None:
    """MR-09."""
    client = client_of()
    reply = await client.call("greet")
    changed = reply | {"requestState": change(reply["requestState"])}
    assert await refusal(client, call(changed)) == (-32602, CHANGED)


@pytest.mark.parametrize("state", [None, 5, {}, ["x"]])
async def test_state_that_is_no_text_is_refused(state: Any) -> None:
    error = await client_of().error("tools/call", {"name": "greet", "requestState": state})
    assert error["code"] == -32602


async def test_state_of_another_key_is_refused() -> None:
    reply = await client_of(make_server(sealing=[OTHER_KEY])).call("greet")
    assert await refusal(client_of(), call(reply)) == (-32602, CHANGED)


async def test_default_keys_are_random() -> None:
    reply = await client_of(make_server(sealing=None)).call("greet")
    assert await refusal(client_of(make_server(sealing=None)), call(reply)) == (-32602, CHANGED)


async def test_workers_with_the_same_key_accept_each_others_state() -> None:
    first, second = client_of(make_server()), client_of(make_server())
    reply = await first.call("greet")
    assert text_of(await second.result("tools/call", call(reply))) == "Hello, Ada"


async def test_keys_can_be_rotated_between_two_rounds() -> None:
    reply = await client_of(make_server(sealing=[KEY])).call("greet")
    rotated = client_of(make_server(sealing=[OTHER_KEY, KEY]))
    assert text_of(await rotated.result("tools/call", call(reply))) == "Hello, Ada"


async def test_a_single_key_is_accepted() -> None:
    reply = await client_of(make_server(sealing=KEY)).call("greet")
    assert text_of(await client_of().result("tools/call", call(reply))) == "Hello, Ada"


async def test_a_custom_sealer_is_accepted() -> None:
    class Numbered:
        """Keeps the state itself and gives the client nothing but a number."""

        def __init__(self) -> None:
            self.payloads: list[bytes] = []

        def seal(self, payload: bytes) -> str:
            self.payloads.append(payload)
            return str(len(self.payloads) - 1)

        def open(self, sealed: str) -> bytes:
            if sealed != "0":
                raise BrokenSeal(sealed)
            return self.payloads[0]

    client = client_of(make_server(sealing=Numbered()))
    reply = await client.call("greet")
    assert reply["requestState"] == "0"
    assert text_of(await client.result("tools/call", call(reply))) == "Hello, Ada"
    assert await refusal(client, call(reply | {"requestState": "1"})) == (-32602, CHANGED)


async def test_encrypted_state_works_like_a_signed_one() -> None:
    client = client_of(make_server(sealing=EncryptingSealer([OTHER_KEY])))
    reply = await client.call("greet")
    assert text_of(await client.result("tools/call", call(reply))) == "Hello, Ada"
    changed = reply["requestState"][:-2] + ("AA" if reply["requestState"][-2:] != "AA" else "BB")
    assert await refusal(client, call(reply | {"requestState": changed})) == (-32602, CHANGED)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "welcome", "arguments": {}}),
        ("tools/call", {"name": "greet", "arguments": {"greeting": "Bye"}}),
        ("tools/call", {"name": "greet", "arguments": {"greeting": "Hello"}}),
        ("prompts/get", {"name": "greet"}),
        ("resources/read", {"uri": "greet://greet"}),
    ],
)
async def test_state_is_refused_on_any_other_request(method: str, params: dict[str, Any]) -> None:
    """MR-10: another tool, other arguments, another method."""
    client = client_of()
    reply = await client.call("greet")
    answered = params | answering(reply, who=accepted(name="Ada"))
    assert await refusal(client, answered, method) == (-32602, ELSEWHERE)


async def test_state_of_one_resource_is_refused_on_another() -> None:
    client = client_of()
    reply = await client.result("resources/read", {"uri": "greet://a"})
    answered = {"uri": "greet://b"} | answering(reply, who=accepted(name="Ada"))
    assert await refusal(client, answered, "resources/read") == (-32602, ELSEWHERE)


async def test_the_order_of_arguments_does_not_matter() -> None:
    server = make_server()

    @server.tool
    async def pair(a: int, b: int, ctx: Context) -> str:
        return (await ctx.elicit(f"{a}{b}", FORM, key="who")).action

    client = client_of(server)
    reply = await client.call("pair", a=1, b=2)
    assert text_of(await client.result("tools/call", call(reply, "pair", b=2, a=1))) == "accept"


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("ada", "bob"),
        ("ada", None),
        (None, "ada"),
        (None, ""),
        ({"sub": "ada", "iss": "x"}, {"sub": "ada", "iss": "y"}),
        (1, "1"),
        (("a", "b"), ("b", "a")),
    ],
)
async def test_state_of_another_principal_is_refused(mine: Any, theirs: Any) -> None:
    server = make_server()
    reply = await client_of(server, mine).call("greet")
    assert await refusal(client_of(server, theirs), call(reply)) == (-32602, ELSEWHERE)
    assert text_of(await client_of(server, mine).result("tools/call", call(reply))) == "Hello, Ada"


async def test_principals_are_the_same_by_value() -> None:
    """Each request has its own principal object."""

    class Person:
        def __init__(self, name: str) -> None:
            self.name = name

        def __str__(self) -> str:
            return self.name

    server = make_server()
    reply = await client_of(server, Person("ada")).call("greet")
    assert text_of(await client_of(server, Person("ada")).result("tools/call", call(reply))) == "Hello, Ada"
    assert await refusal(client_of(server, Person("bob")), call(reply)) == (-32602, ELSEWHERE)


def aged(state: str, seconds: float) -> str:
    """The same state, as if sealed that many seconds earlier."""
    sealer = HmacSealer([KEY])
    opened = json.loads(sealer.open(state))
    opened["expires"] -= seconds
    return sealer.seal(json.dumps(opened).encode())


@pytest.mark.parametrize(("age", "served"), [(0, True), (890, True), (901, False), (1e9, False)])
async def test_state_expires(age: float, served: bool) -> None:
    client = client_of()
    reply = await client.call("greet")
    answered = call(reply | {"requestState": aged(reply["requestState"], age)})
    if served:
        assert text_of(await client.result("tools/call", answered)) == "Hello, Ada"
    else:
        text = "requestState has expired: send the request anew"
        assert await refusal(client, answered) == (-32602, text)


async def test_lifetime_of_a_state_is_configurable() -> None:
    client = client_of(make_server(limits=Limits(request_state=60)))
    reply = await client.call("greet")
    answered = call(reply | {"requestState": aged(reply["requestState"], 61)})
    assert (await refusal(client, answered))[0] == -32602


async def test_state_may_be_used_again_until_it_expires() -> None:
    """Not a single-use token: a client may retry a request whose answer was lost."""
    client = client_of()
    reply = await client.call("greet")
    for _ in range(3):
        assert text_of(await client.result("tools/call", call(reply))) == "Hello, Ada"


async def test_state_does_not_contain_unexpected_answers() -> None:
    client = client_of()
    extra = {f"extra-{number}": "x" * 100 for number in range(10)}
    without = await client.call("greet")
    reply = await client.call("greet", {"inputResponses": extra})
    assert len(reply["requestState"]) < len(without["requestState"]) + 100


async def test_state_is_ignored_in_handshake_revisions() -> None:
    """There it is an unknown parameter like any other."""
    server = make_server()
    message = {"name": "greet", "inputResponses": None, "requestState": "x"}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": message}
    answer = await server.handle(request)
    assert answer is not None
    text = "the client does not support elicitation"
    assert json.loads(answer)["result"] == {"content": [{"type": "text", "text": text}], "isError": True}
