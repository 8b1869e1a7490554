"""What comes on a listen stream: only what was asked for, each with the name of its subscription."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.driver.list_change import UPDATED
from assay.lab.harness.driver.message_meta import SUBSCRIPTION_KEY
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.message import Message, same_id
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.self_description import as_object
from assay.lab.suite.subscription import WISHES, Subscription, strays, subscription_id, subscriptions

OF_REQUESTS = ("notifications/progress", "notifications/message")


@check("Listen streams carry what was asked for", rows=("SUB-01", "SUB-05", "SUB-08", "SUB-10"))
def judge(trace: Trace) -> Iterator[Observation]:
    for found in subscriptions(trace):
        for message in found.messages:
            yield from _notice(message, found)
        yield from _end(found, trace)
    for message in strays(trace):
        expected = "the id of a subscription of this connection"
        yield observe("SUB-05", False, message, expected=expected, observed=repr(subscription_id(message)))


def _notice(message: Message, found: Subscription) -> Iterator[Observation]:
    name = subscription_id(message)
    ours = same_id(name, found.exchange.request.id)
    yield observe(
        "SUB-05", ours, found, message, expected="the id of the listen request", observed=repr(name)
    )
    alien = message.method in OF_REQUESTS
    expected = "nothing that belongs to another request"
    yield observe("SUB-10", not alien, found, message, expected=expected, observed=message)
    if message.method in WISHES:
        wished = _is_wished(message, found)
        yield observe("SUB-01", wished, found, message, expected="only what was asked for", observed=message)


def _is_wished(message: Message, found: Subscription) -> bool:
    wish = found.wishes.get(WISHES[message.method])
    if message.method != UPDATED:
        return wish is True
    uri = str(message.params.get("uri"))
    # What is below a resource may be told of under its own name.
    return isinstance(wish, list) and any(
        uri.startswith(str(one)) or str(one).startswith(uri) for one in wish
    )


def _end(found: Subscription, trace: Trace) -> Iterator[Observation]:
    """A server that ends a subscription says so; one that the driver left, or that broke, says nothing."""
    result = found.exchange.result
    if result is not None:
        name = as_object(result.get("_meta")).get(SUBSCRIPTION_KEY)
        told = same_id(name, found.exchange.request.id) and result.get("resultType") == "complete"
        expected = "a `complete` result with the id of the subscription"
        yield observe("SUB-08", told, found, expected=expected, observed=found.exchange.answer)
    elif found.acknowledgement is not None and found.exchange.answer is None:
        for end in _clean_ends(found, trace):
            told = any(one.method == "notifications/cancelled" for one in found.messages)
            yield observe("SUB-08", told, found, end, expected="a result before the end", observed="the end")


def _clean_ends(found: Subscription, trace: Trace) -> list[Frame]:
    """Of its response on HTTP: elsewhere the channel is not its own."""
    asked = found.exchange.request.frame
    own = asked.channel if asked.kind is Kind.REQUEST else None
    ends = (one for one in trace.frames if one.kind is Kind.END and one.channel == own)
    return [one for one in ends if one.sender is Sender.SUBJECT and one.info.get("clean") is True]
