"""What models see of the server: a change of it is a change of behaviour."""

from assay import Client
from assay.testing import Snapshot


async def test_tools_resources_and_prompts(assay_client: Client, assay_snapshot: Snapshot) -> None:
    await assay_snapshot(assay_client)
