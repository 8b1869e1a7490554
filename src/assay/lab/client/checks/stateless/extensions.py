"""Extensions are named in full, and not used with a server that has none."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.harness.check import check
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.checks.jsonrpc.meta_keys import NAME, PREFIX

from .own_words import meta_of

OF_EXTENSIONS = ("tasks/",)
"""How methods begin that only an extension brings."""


@check("Extensions are named, and used where both have them", rows=("VER-06", "VER-07"), everywhere=True)
def judge(trace: Trace) -> Iterator[Observation]:
    for message in trace.received:
        declared = meta_of(message).get(CAPABILITIES_KEY)
        named = declared.get("extensions") if isinstance(declared, dict) else None
        for name in named if isinstance(named, dict) else ():
            prefix, slash, rest = name.partition("/")
            right = bool(slash and PREFIX.fullmatch(prefix) and NAME.fullmatch(rest))
            yield observe("VER-06", right, message, expected="a prefix and a name", observed=f"{name!r}")
    served = [_served(one.result) for one in trace.inquiries("server/discover") if one.result is not None]
    for exchange in trace.inquiries() if served and not any(served) else ():
        core = not exchange.method.startswith(OF_EXTENSIONS)
        expected = "core methods, where the server has no extensions"
        yield observe("VER-07", core, exchange, expected=expected, observed=exchange.method)


def _served(result: dict[str, object] | None) -> bool:
    """Whether a server says that it has extensions."""
    capabilities = (result or {}).get("capabilities")
    return isinstance(capabilities, dict) and bool(capabilities.get("extensions"))
