"""Key files: written once, and read with clear error messages."""

import os
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from assay.signing.keys import BadKey, generate, read_public_key, read_signing_key, write_pair

PEM, PKCS8, SPKI = Encoding.PEM, PrivateFormat.PKCS8, PublicFormat.SubjectPublicKeyInfo


def test_a_pair_signs_and_verifies_after_it_was_stored(tmp_path: Path) -> None:
    key = generate()
    signing, public = write_pair(key, str(tmp_path / "dev"))
    assert (signing.name, public.name) == ("dev.key", "dev.pub")
    signature = read_signing_key(signing).sign(b"message")
    assert read_public_key(public) == key.public
    assert read_public_key(public).has_signed(b"message", signature)
    assert not read_public_key(public).has_signed(b"massage", signature)
    assert not generate().public.has_signed(b"message", signature)


def test_the_id_is_the_digest_of_the_public_key(tmp_path: Path) -> None:
    key = generate()
    der = key.key.public_key().public_bytes(Encoding.DER, SPKI)
    assert key.public.id == f"sha256:{sha256(der).hexdigest()}"


def test_only_its_owner_may_read_the_signing_key(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        signing, _ = write_pair(generate(), str(tmp_path / "dev"))
    finally:
        os.umask(before)
    assert signing.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("ending", [".key", ".pub"])
def test_a_file_that_is_there_is_never_overwritten(tmp_path: Path, ending: str) -> None:
    there = tmp_path / f"dev{ending}"
    there.write_text("mine")
    with pytest.raises(BadKey, match="never overwritten"):
        write_pair(generate(), str(tmp_path / "dev"))
    assert [file.name for file in tmp_path.iterdir()] == [there.name]
    assert there.read_text() == "mine"


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "dev.key").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadKey, match="never overwritten"):
        write_pair(generate(), str(tmp_path / "dev"))
    assert not (tmp_path / "elsewhere").exists()


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadKey, match=r"cannot write .*No such file"):
        write_pair(generate(), str(tmp_path / "nowhere" / "dev"))


def test_a_signing_key_is_not_shown() -> None:
    key = generate()
    assert "PRIVATE" not in repr(key)
    assert "PRIVATE" not in str(key)


CURVE = ec.generate_private_key(ec.SECP256R1())
SECRET = generate().key.private_bytes(PEM, PKCS8, BestAvailableEncryption(b"secret"))
BROKEN = b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (generate().public.pem(), "is a public key"),
        (SECRET, "is encrypted"),
        (CURVE.private_bytes(PEM, PKCS8, NoEncryption()), "not an Ed25519 key"),
        (b"hello", "not a private key in PEM"),
        (BROKEN, "not a private key in PEM"),
        (b"", "not a private key in PEM"),
        (b"x" * 20_000, "longer than"),
    ],
)
def test_other_files_are_not_signing_keys(tmp_path: Path, content: bytes, cause: str) -> None:
    file = tmp_path / "dev.key"
    file.write_bytes(content)
    with pytest.raises(BadKey, match=cause):
        read_signing_key(file)


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (generate().pem(), "is a private key"),
        (SECRET, "is a private key"),
        (CURVE.public_key().public_bytes(PEM, SPKI), "not an Ed25519 key"),
        (b"hello", "not a public key in PEM"),
        (b"x" * 20_000, "longer than"),
    ],
)
def test_other_files_are_not_public_keys(tmp_path: Path, content: bytes, cause: str) -> None:
    file = tmp_path / "dev.pub"
    file.write_bytes(content)
    with pytest.raises(BadKey, match=cause):
        read_public_key(file)


def test_a_key_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadKey, match=r"cannot read .*No such file"):
        read_public_key(tmp_path / "dev.pub")
    with pytest.raises(BadKey, match=r"cannot read .*directory"):
        read_signing_key(tmp_path)
