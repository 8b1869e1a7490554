"""The header for names: plain, in Base64, missing, different, with letters that it may not hold."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from assay.lab.harness.driver.argument import arguments_for
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.need import Need
from assay.lab.harness.scenario import scenario
from assay.lab.harness.subject.facts import Facts
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.mirrored import NAME


def harmless(facts: Facts) -> tuple[str, str, dict[str, Any]] | None:
    """A request with a name that changes nothing, its name, and its parameters."""
    for resource in facts.resources:
        if isinstance(uri := resource.get("uri"), str):
            return "resources/read", uri, {"uri": uri}
    for tool in facts.read_only_tools:
        if isinstance(name := tool.get("name"), str):
            return "tools/call", name, {"name": name, "arguments": arguments_for(tool)}
    for prompt in facts.prompts:
        if isinstance(name := prompt.get("name"), str):
            return "prompts/get", name, {"name": name}
    return None


@scenario(
    "Names in headers",
    exercises=("http.mirrored-headers",),
    needs=(Need(lambda facts: harmless(facts) is not None, "has nothing that can be named without effects"),),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.mirrored is not None,
)
async def drive(stage: Stage) -> None:
    found = harmless(stage.facts)
    assert found is not None
    method, name, params = found
    peer = await stage.open()
    encoded = b64encode(name.encode()).decode()
    await peer.request(method, params)
    for given in (
        f"=?base64?{encoded}?=",
        f"=?BASE64?{encoded}?=",
        None,
        f"{name}-of-another-kind",
        f"{name}\N{LATIN SMALL LETTER E WITH ACUTE}",
    ):
        await peer.request(method, params, headers={NAME: given})
