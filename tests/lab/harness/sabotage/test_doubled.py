"""A saboteur in front of a double sees the messages of both server and double."""

from typing import Any

from assay.lab.harness.sabotage.alteration import Alteration, decode, encode
from assay.lab.harness.sabotage.doubled import doubled
from assay.lab.harness.sabotage.saboteur import Changed, Double, FaultContext, Json, LocalAnswer, Saboteur
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS
from tests.lab.traces import request, result


def answer(message: Json, context: FaultContext) -> Json | LocalAnswer:
    return LocalAnswer([result(message["id"], by="double")], 201) if message["method"] == "mine" else message


def announce(message: Json, context: FaultContext) -> Changed:
    return [message, {"jsonrpc": "2.0", "method": "notifications/more"}]


def alteration(**hooks: Any) -> Alteration:
    double = Double("by hand", request=answer, reply=announce)
    saboteur = Saboteur(id="x.y", fault="by hand", breaks="BASE-01", **hooks)
    return Alteration(doubled(saboteur, double), FaultContext(Transport.STDIO, REVISIONS[-1]))


def test_double_answers_its_own_methods() -> None:
    work = alteration()
    mine = work.alter_request(encode(request(1, "mine")))
    assert isinstance(mine, LocalAnswer)
    assert (mine.messages, mine.status) == ([result(1, by="double")], 201)
    other = work.alter_request(encode(request(2, "other")))
    assert isinstance(other, bytes) and decode(other) == request(2, "other")


def test_saboteur_alters_requests_to_the_double() -> None:
    work = alteration(request=lambda message, context: {**message, "method": "mine"})
    assert isinstance(work.alter_request(encode(request(1, "other"))), LocalAnswer)


def test_saboteur_answers_before_the_double() -> None:
    work = alteration(request=lambda message, context: LocalAnswer([b"no"]))
    answer = work.alter_request(encode(request(1, "mine")))
    assert isinstance(answer, LocalAnswer) and answer.messages == [b"no"]


def test_saboteur_alters_replies_of_the_double_and_knows_the_request() -> None:
    work = alteration(reply=lambda reply, context: {**reply, "to": context.method})
    mine = work.alter_request(encode(request(1, "mine")))
    assert isinstance(mine, LocalAnswer) and mine.messages[0]["to"] == "mine"
    work.alter_request(encode(request(2, "other")))
    methods = [decode(body)["to"] for body in work.alter_reply(encode(result(2)))]
    assert methods == ["other", ""]


def test_saboteur_cannot_alter_state_of_the_double() -> None:
    stored = {"jsonrpc": "2.0", "id": 1, "result": {"by": "double"}}

    def spoil(reply: Json, context: FaultContext) -> Json:
        reply["result"]["by"] = "saboteur"
        return reply

    double = Double("by hand", request=lambda message, context: LocalAnswer([stored]), reply=announce)
    saboteur = Saboteur(id="x.y", fault="by hand", breaks="BASE-01", reply=spoil)
    work = Alteration(doubled(saboteur, double), FaultContext(Transport.STDIO, REVISIONS[-1]))
    mine = work.alter_request(encode(request(1, "mine")))
    assert isinstance(mine, LocalAnswer) and mine.messages[0]["result"] == {"by": "saboteur"}
    assert stored["result"] == {"by": "double"}


def test_replies_in_a_batch_stay_members_of_it() -> None:
    body = encode([result(1), result(2)])
    more = {"jsonrpc": "2.0", "method": "notifications/more"}
    assert list(map(decode, alteration().alter_reply(body))) == [[result(1), more, result(2), more]]
