"""Client certificates of the driver, and errors about unusable files."""

import ssl
from pathlib import Path

import pytest

from assay.lab.harness.links.broken_off import Unreachable
from assay.lab.harness.links.connections import Connections
from assay.lab.harness.links.http_call import Address, connect
from assay.lab.harness.links.identity import DEFAULT_IDENTITY, BadIdentity, Identity
from assay.lab.harness.sabotage.certificate_authority import Issuer
from assay.lab.harness.subject.bearer import NONE, STRANGER, USUAL


def test_without_a_certificate_there_are_no_kinds() -> None:
    assert DEFAULT_IDENTITY.kinds == []


def test_with_a_certificate_there_are_three_kinds(tmp_path: Path) -> None:
    identity = Identity(None, *Issuer(tmp_path, "us").issue("driver"))
    assert identity.kinds == [USUAL, NONE, STRANGER]
    assert len({id(identity.context(kind)) for kind in identity.kinds}) == 3
    assert identity.context(USUAL) is identity.context()


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        (("nowhere.pem", None, None), "authorities .*nowhere.pem: .*No such file"),
        (("empty.pem", None, None), "authorities .*empty.pem: "),
        ((None, "driver.pem", "other.key"), "key .*other.key: .*KEY_VALUES_MISMATCH"),
        ((None, "empty.pem", None), "certificate .*empty.pem"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(
    files: tuple[str | None, str | None, str | None], problem: str, tmp_path: Path
) -> None:
    authority = Issuer(tmp_path, "us")
    authority.issue("driver")
    authority.issue("other")
    (tmp_path / "empty.pem").write_text("")
    ca, cert, key = (None if name is None else tmp_path / name for name in files)
    with pytest.raises(BadIdentity, match=problem):
        Identity(ca, cert, key).context()


async def test_untrusted_server_is_reported_with_the_tls_error(tmp_path: Path) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*Issuer(tmp_path, "us").issue("server"))
    connections = Connections(lambda reader, writer: writer.drain())
    port = await connections.listen(context=context)
    try:
        with pytest.raises(Unreachable, match="TLS: unable to get local issuer certificate"):
            await connect(Address.of(f"https://127.0.0.1:{port}/mcp"), 5.0)
    finally:
        await connections.stop()
