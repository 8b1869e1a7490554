"""How a fault changes what passes, message by message and batch by batch."""

from typing import Any

from assay.lab.harness.sabotage.alteration import Alteration, bodies, decoded, encode
from assay.lab.harness.sabotage.saboteur import Answered, FaultContext, Saboteur
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS
from tests.lab.traces import request, result


def altering(**hooks: Any) -> Alteration:
    saboteur = Saboteur(id="x.y", fault="by hand", breaks="BASE-01", **hooks)
    return Alteration(saboteur, FaultContext(Transport.STDIO, REVISIONS[-1]))


def test_without_a_hook_everything_passes_as_it_is() -> None:
    plain = altering()
    for body in (b'{"id": 1,  "method": "a"}', b"[ 1 ]", b"rubbish"):
        assert plain.asked(body) == body
        assert plain.answered(body) == [body]


def test_batches_have_a_hook_of_their_own() -> None:
    work = altering(
        batch=lambda members, context: members[:1], request=lambda message, context: {"changed": 1}
    )
    asked = work.asked(encode([request(1, "a"), request(2, "b")]))
    assert isinstance(asked, bytes) and decoded(asked) == [request(1, "a")]
    assert work.asked(encode(request(3, "c"))) == b'{"changed":1}'
    assert work.asked(b"17") == b"17"


def test_a_batch_can_be_answered_in_place_of_the_server() -> None:
    answered = altering(batch=lambda members, context: Answered([b"no"])).asked(b"[]")
    assert isinstance(answered, Answered) and bodies(answered.messages) == [b"no"]


def test_a_reply_knows_what_was_asked_in_a_batch() -> None:
    work = altering(reply=lambda reply, context: {**reply, "asked": context.method})
    work.asked(encode([request(1, "a"), request("1", "b"), 17]))
    (answered,) = work.answered(encode([result("1"), result(1)]))
    assert [one["asked"] for one in decoded(answered)] == ["b", "a"]
