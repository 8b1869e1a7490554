"""The server as users start it."""

import pytest

from assay import Client, SyncClient


@pytest.mark.assay_server("tested_server:server", process=True)
async def test_it_serves_on_its_standard_streams(assay_client: Client) -> None:
    assert await assay_client.call_as(list[str], "find", text="mid") == ["Middlemarch"]


@pytest.mark.assay_server("tested_server:server", process=True)
def test_the_same_without_async(assay_sync_client: SyncClient) -> None:
    assert assay_sync_client.server_info is not None
    assert assay_sync_client.server_info.name == "library"
