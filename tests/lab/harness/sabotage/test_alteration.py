"""Altering messages and batches by a fault."""

from typing import Any

from assay.lab.harness.sabotage.alteration import Alteration, bodies, decode, encode
from assay.lab.harness.sabotage.saboteur import FaultContext, LocalAnswer, Saboteur
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS
from tests.lab.traces import request, result


def alteration(**hooks: Any) -> Alteration:
    saboteur = Saboteur(id="x.y", fault="by hand", breaks="BASE-01", **hooks)
    return Alteration(saboteur, FaultContext(Transport.STDIO, REVISIONS[-1]))


def test_without_a_hook_nothing_is_altered() -> None:
    plain = alteration()
    for body in (b'{"id": 1,  "method": "a"}', b"[ 1 ]", b"rubbish"):
        assert plain.alter_request(body) == body
        assert plain.alter_reply(body) == [body]


def test_batches_have_their_own_hook() -> None:
    work = alteration(
        batch=lambda members, context: members[:1], request=lambda message, context: {"changed": 1}
    )
    altered = work.alter_request(encode([request(1, "a"), request(2, "b")]))
    assert isinstance(altered, bytes) and decode(altered) == [request(1, "a")]
    assert work.alter_request(encode(request(3, "c"))) == b'{"changed":1}'
    assert work.alter_request(b"17") == b"17"


def test_hook_answers_a_batch_in_place_of_the_server() -> None:
    answered = alteration(batch=lambda members, context: LocalAnswer([b"no"])).alter_request(b"[]")
    assert isinstance(answered, LocalAnswer) and bodies(answered.messages) == [b"no"]


def test_reply_hook_knows_the_request_in_a_batch() -> None:
    work = alteration(reply=lambda reply, context: {**reply, "to": context.method})
    work.alter_request(encode([request(1, "a"), request("1", "b"), 17]))
    (batch,) = work.alter_reply(encode([result("1"), result(1)]))
    assert [reply["to"] for reply in decode(batch)] == ["b", "a"]


def test_body_hook_sees_bodies_that_are_not_json() -> None:
    answer = LocalAnswer([b"no"])
    work = alteration(body=lambda body, context: answer if body == b"[[[" else body.upper())
    assert work.alter_request(b"[[[") is answer
    assert work.alter_request(b"rubbish") == b"RUBBISH"
