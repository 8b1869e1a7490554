"""Bundles are written atomically, and replace only another bundle."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from assay.certify.bundle.bundle_manifest import Artifact, BundleManifest, encode, read
from assay.certify.bundle.directory import BundleSource, CannotWrite, write
from assay.certify.bundle.layout import MANIFEST
from assay.certify.bundle.manifest import BadManifest
from assay.signing import canonical, dsse
from assay.signing.dsse import Role, Trust
from tests.certify.bundles import CREATED, DEVELOPER, HARNESS, listed

EMPTY = BundleSource("s", "1", None, "p/1", b"[list]", {"report.md": b"# x"}, CREATED, timedelta(days=1))


def names(directory: Path) -> list[str]:
    return sorted(path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file())


def opened(directory: Path) -> BundleManifest:
    trust = Trust([(DEVELOPER.public, Role.DEVELOPER)])
    kind = "application/vnd.assay.manifest+json"
    return read(dsse.verify((directory / MANIFEST).read_bytes(), trust, Role.DEVELOPER, kind).payload)


def test_the_manifest_names_server_profile_time_signers_and_files(tmp_path: Path) -> None:
    write(tmp_path / "b", EMPTY, DEVELOPER, harness=HARNESS.public.id)
    manifest = opened(tmp_path / "b")
    assert (manifest.server.name, manifest.server.version, manifest.profile.id) == ("s", "1", "p/1")
    assert (manifest.created, manifest.expires) == ("2030-01-01T00:00:00Z", "2030-01-02T00:00:00Z")
    assert manifest.roles == {DEVELOPER.public.id: Role.DEVELOPER, HARNESS.public.id: Role.HARNESS}
    assert [entry.path for entry in manifest.files] == ["profile.toml", "report.md"]
    assert names(tmp_path / "b") == [MANIFEST, "profile.toml", "report.md"]
    assert names(tmp_path) == [f"b/{name}" for name in names(tmp_path / "b")], "no temporary files are left"


def test_a_key_with_both_roles_is_listed_as_the_developers(tmp_path: Path) -> None:
    write(tmp_path / "b", EMPTY, DEVELOPER, harness=DEVELOPER.public.id)
    assert opened(tmp_path / "b").roles == {DEVELOPER.public.id: Role.DEVELOPER}


def test_without_a_key_there_are_no_signatures_and_attestations(tmp_path: Path) -> None:
    write(tmp_path / "b", replace(EMPTY, files={"summary.json": b'{"checks":[]}'}), None)
    assert json.loads((tmp_path / "b" / MANIFEST).read_bytes())["signatures"] == []
    assert listed(tmp_path / "b")["roles"] == {}
    assert names(tmp_path / "b") == [MANIFEST, "profile.toml", "summary.json"]


def test_an_empty_directory_is_filled(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    write(tmp_path / "b", EMPTY, DEVELOPER)
    assert MANIFEST in names(tmp_path / "b")


def test_an_existing_bundle_is_replaced_only_with_force(tmp_path: Path) -> None:
    write(tmp_path / "b", replace(EMPTY, files={"old": b""}), DEVELOPER)
    with pytest.raises(CannotWrite, match="contains a bundle: name another directory, or use --force"):
        write(tmp_path / "b", EMPTY, DEVELOPER)
    assert "old" in names(tmp_path / "b")
    write(tmp_path / "b", EMPTY, DEVELOPER, force=True)
    assert names(tmp_path) == ["b/MANIFEST.json", "b/profile.toml", "b/report.md"]


@pytest.mark.parametrize("stranger", ["notes.txt", "a/b.txt"])
def test_other_files_are_never_replaced(tmp_path: Path, stranger: str) -> None:
    write(tmp_path / "b", EMPTY, DEVELOPER)
    (tmp_path / "b" / stranger).parent.mkdir(exist_ok=True)
    (tmp_path / "b" / stranger).write_text("mine")
    before = names(tmp_path)
    with pytest.raises(CannotWrite, match=f"files that are not part of a bundle, such as {stranger}"):
        write(tmp_path / "b", EMPTY, DEVELOPER, force=True)
    assert names(tmp_path) == before


def test_a_directory_with_a_foreign_manifest_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text('{"payload":"e30="}')
    with pytest.raises(CannotWrite, match=f"not part of a bundle, such as {MANIFEST}"):
        write(tmp_path, EMPTY, DEVELOPER, force=True)


def test_a_file_or_link_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("file", "link"):
        with pytest.raises(CannotWrite, match="is not a directory: name another one"):
            write(tmp_path / name, EMPTY, DEVELOPER, force=True)


def test_a_missing_parent_directory_is_created(tmp_path: Path) -> None:
    write(tmp_path / "deep" / "er" / "b", EMPTY, DEVELOPER)
    assert MANIFEST in names(tmp_path / "deep" / "er" / "b")
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite, match=r"cannot (write|read)"):
        write(tmp_path / "file" / "b", EMPTY, DEVELOPER)


@pytest.mark.parametrize(
    "name", ["MANIFEST.json", "profile.toml", "attestations/x.dsse.json", "../x", "a//b", "A\\b"]
)
def test_invalid_and_reserved_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(CannotWrite, match="cannot create a bundle: "):
        write(tmp_path / "b", replace(EMPTY, files={name: b""}), DEVELOPER)
    assert list(tmp_path.iterdir()) == []


def test_a_bundle_without_a_lifetime_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match="expires before it was created"):
        write(tmp_path / "b", replace(EMPTY, lifetime=timedelta(0)), DEVELOPER)


def test_evidence_that_cannot_be_attested_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match=r"summary\.json does not have the expected format"):
        write(tmp_path / "b", replace(EMPTY, files={"summary.json": b"[]"}), DEVELOPER)


def test_an_artifact_is_identified_by_its_digest(tmp_path: Path) -> None:
    (tmp_path / "x.whl").write_bytes(b"")
    assert Artifact.of(tmp_path / "x.whl").sha256.startswith("e3b0c442")


def test_a_manifest_survives_encoding_and_decoding(tmp_path: Path) -> None:
    write(tmp_path / "b", EMPTY, DEVELOPER)
    manifest = opened(tmp_path / "b")
    assert read(encode(manifest)) == manifest
    with pytest.raises(BadManifest, match="not a bundle manifest"):
        read(canonical.encode({"files": []}))
