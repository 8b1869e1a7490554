"""A fault before a double sees what both of them hear and say."""

from typing import Any

from assay.lab.harness.sabotage.alteration import Alteration, decoded, encode
from assay.lab.harness.sabotage.doubled import doubled
from assay.lab.harness.sabotage.saboteur import Answered, Changed, Double, FaultContext, Json, Saboteur
from assay.lab.harness.transport import Transport
from assay.revisions.registry import REVISIONS
from tests.lab.traces import request, result


def answer(message: Json, context: FaultContext) -> Json | Answered:
    return Answered([result(message["id"], by="double")], 201) if message["method"] == "mine" else message


def announce(message: Json, context: FaultContext) -> Changed:
    return [message, {"jsonrpc": "2.0", "method": "notifications/more"}]


def altering(**hooks: Any) -> Alteration:
    double = Double("by hand", request=answer, reply=announce)
    saboteur = Saboteur(id="x.y", fault="by hand", breaks="BASE-01", **hooks)
    return Alteration(doubled(saboteur, double), FaultContext(Transport.STDIO, REVISIONS[-1]))


def test_without_a_fault_the_double_answers_what_is_its_own() -> None:
    work = altering()
    mine = work.asked(encode(request(1, "mine")))
    assert isinstance(mine, Answered)
    assert (mine.messages, mine.status) == ([result(1, by="double")], 201)
    other = work.asked(encode(request(2, "other")))
    assert isinstance(other, bytes) and decoded(other) == request(2, "other")


def test_a_fault_changes_what_the_double_is_asked() -> None:
    work = altering(request=lambda message, context: {**message, "method": "mine"})
    assert isinstance(work.asked(encode(request(1, "other"))), Answered)


def test_a_fault_may_answer_before_the_double() -> None:
    work = altering(request=lambda message, context: Answered([b"no"]))
    asked = work.asked(encode(request(1, "mine")))
    assert isinstance(asked, Answered) and asked.messages == [b"no"]


def test_a_fault_changes_what_the_double_says_and_knows_what_was_asked() -> None:
    work = altering(reply=lambda reply, context: {**reply, "asked": context.method})
    mine = work.asked(encode(request(1, "mine")))
    assert isinstance(mine, Answered) and mine.messages[0]["asked"] == "mine"
    work.asked(encode(request(2, "other")))
    told = [decoded(body)["asked"] for body in work.answered(encode(result(2)))]
    assert told == ["other", ""]


def test_what_the_double_keeps_is_out_of_reach_of_a_fault() -> None:
    kept = {"jsonrpc": "2.0", "id": 1, "result": {"by": "double"}}

    def spoil(reply: Json, context: FaultContext) -> Json:
        reply["result"]["by"] = "saboteur"
        return reply

    double = Double("by hand", request=lambda message, context: Answered([kept]), reply=announce)
    saboteur = Saboteur(id="x.y", fault="by hand", breaks="BASE-01", reply=spoil)
    work = Alteration(doubled(saboteur, double), FaultContext(Transport.STDIO, REVISIONS[-1]))
    mine = work.asked(encode(request(1, "mine")))
    assert isinstance(mine, Answered) and mine.messages[0]["result"] == {"by": "saboteur"}
    assert kept["result"] == {"by": "double"}
