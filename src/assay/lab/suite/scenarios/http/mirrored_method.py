"""Headers for version and method: right, missing, different, spelled otherwise."""

from __future__ import annotations

from assay.lab.harness.driver.message_meta import VERSION_KEY
from assay.lab.harness.driver.stage import Stage
from assay.lab.harness.scenario import scenario
from assay.lab.harness.transport import HTTP_ONLY
from assay.lab.suite.mirrored import METHOD, VERSION

NO_VERSION = "1999-12-31"


@scenario(
    "Version and method in headers",
    exercises=("http.mirrored-headers", "http.unsupported-version"),
    transports=HTTP_ONLY,
    window=lambda revision: revision.http.mirrored is not None,
)
async def drive(stage: Stage) -> None:
    peer = await stage.open()
    method = stage.plain
    await peer.request(method)
    for spelled in (METHOD.lower(), METHOD.upper()):
        await peer.request(method, headers={METHOD: None, spelled: method})
    for given in (None, "tools/list", method.upper()):
        await peer.request(method, headers={METHOD: given})
    for version in (stage.revision.date, NO_VERSION):
        await peer.request(method, {"_meta": {VERSION_KEY: NO_VERSION}}, headers={VERSION: version})
