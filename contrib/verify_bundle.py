#!/usr/bin/env python3
"""An independent verifier for bundles of evidence. It needs only Python and `cryptography`, not Assay.

  python verify_bundle.py evidence/ dev.pub [ARTIFACT]

Checks that all files are the ones that the owner of the key signed, that the bundle is valid now, and that it
is about the artifact. Exits with 0, or with 1 and the reason. Unlike `assay verify`, it does not check that
summary, badges, predicates and run agree: only the owner of the key could forge those.
"""

import json
import stat
import sys
from base64 import b64decode, b64encode
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

PROFILES = {
    "intelgraph/2025-10": "fe201ba9e3545cc762d71440b268336ed79ceee5e195cbf8c4cd64d5368ed273",
    "intelgraph/2026-11": "ce690ec8174935b1928fa49d088bac4accc486eaae4b881c91c74d1a487f9ff2",
}
MANIFEST, SUMMARY, PROFILE, IN_TOTO = "MANIFEST.json", "summary.json", "profile.toml", "https://in-toto.io/"
STATEMENTS = {  # attestation → its evidence, and its predicate type
    "attestations/sbom.dsse.json": ("sbom.cdx.json", "https://cyclonedx.org/bom"),
    "attestations/spdx.dsse.json": ("sbom.spdx.json", "https://spdx.dev/Document"),
    "attestations/summary.dsse.json": (SUMMARY, f"{IN_TOTO}attestation/test-result/v0.1"),
    "attestations/vulnerabilities.dsse.json": ("vulnerabilities.json", f"{IN_TOTO}attestation/vulns/v0.2"),
}
LARGEST, SKEW = 256 * 1024 * 1024, timedelta(minutes=5)


class Refused(Exception):
    """The reason, and the file that it concerns."""


def require(condition, reason, where):
    if not condition:
        raise Refused(reason, where)


class Fraction(str):
    """A number with a fraction or an exponent, as it is written: RFC 8785 and Python write it differently."""


def parse(data):
    return json.loads(data.decode(), parse_float=Fraction)


def canonical(value):
    """Canonical JSON (RFC 8785). Signed data must encode to the same bytes after decoding."""
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
        return b"{" + b",".join(canonical(key) + b":" + canonical(item) for key, item in members) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(map(canonical, value)) + b"]"
    text = value if isinstance(value, Fraction) else json.dumps(value, ensure_ascii=False, allow_nan=False)
    return text.encode()


def open_envelope(data, where, key, kind):
    """Verify a DSSE envelope with the trusted key, and return its document."""
    key_id = "sha256:" + sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()
    envelope = parse(data)
    payload, payload_type = b64decode(envelope["payload"]), envelope["payloadType"]
    signatures = [(entry["keyid"], b64decode(entry["sig"])) for entry in envelope["signatures"]]
    encoded = [{"keyid": name, "sig": b64encode(signature).decode()} for name, signature in signatures]
    rebuilt = {"payload": b64encode(payload).decode(), "payloadType": payload_type, "signatures": encoded}
    require(canonical(rebuilt) == data, "malformed", where)
    require(payload_type == kind, "wrong-type", where)
    require(signatures, "unsigned", where)
    require(len(signatures) == 1, "several-signatures", where)
    require(signatures[0][0] == key_id, "unknown-key", where)
    signed = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload)
    try:
        key.verify(signatures[0][1], signed)
    except InvalidSignature:
        raise Refused("bad-signature", where) from None
    document = parse(payload)
    require(canonical(document) == payload, "malformed", where)
    return document


def read_manifest(data, key, now, max_age):
    manifest = open_envelope(data, MANIFEST, key, "application/vnd.assay.manifest+json")
    begin, end = (datetime.fromisoformat(manifest[name]) for name in ("created", "expires"))
    names = [entry["path"] for entry in manifest["files"]]
    require(names == sorted(set(names)) and MANIFEST not in names, "bad-manifest", MANIFEST)
    require(manifest["v"] == 1 and begin < end, "bad-manifest", MANIFEST)
    require(begin <= now + SKEW, "from-the-future", MANIFEST)
    require(now < end, "expired", MANIFEST)
    require(max_age is None or now - begin <= max_age, "too-old", MANIFEST)
    return manifest


def list_files(directory):
    """The regular files below it, by name. Only these are opened, never a path from a manifest."""
    paths, pending = {}, [directory]
    while pending:
        for path in pending.pop().iterdir():
            name, mode = path.relative_to(directory).as_posix(), path.lstat().st_mode
            if stat.S_ISDIR(mode):
                pending.append(path)
            else:
                require(stat.S_ISREG(mode), "unfit-file", name)
                paths[name] = path
    require(MANIFEST in paths, "missing-file", MANIFEST)
    require(paths[MANIFEST].stat().st_size <= LARGEST, "malformed", MANIFEST)
    return paths


def compare_files(paths, entries):
    """No file is missing or added, and each has the listed size and digest."""
    require(entries.keys() <= paths.keys(), "missing-file", min(entries.keys() - paths, default=""))
    require(paths.keys() <= entries.keys(), "added-file", min(paths.keys() - entries, default=""))
    for name, entry in entries.items():
        require(entry["size"] <= LARGEST, "too-large", name)
        require(paths[name].stat().st_size == entry["size"], "changed-file", name)
        require(sha256(paths[name].read_bytes()).hexdigest() == entry["sha256"], "changed-file", name)


def check_attestations(paths, entries, artifact, key):
    expected = {name for name, (source, _) in STATEMENTS.items() if source in entries}
    present = {name for name in entries if name.startswith("attestations/")}
    require(expected <= present, "missing-attestation", min(expected - present, default=""))
    require(present <= expected, "strange-attestation", min(present - expected, default=""))
    for name in sorted(expected):
        source, kind = STATEMENTS[name]
        claim = open_envelope(paths[name].read_bytes(), name, key, "application/vnd.in-toto+json")
        require(claim["_type"] == f"{IN_TOTO}Statement/v1", "bad-statement", name)
        digests = [(source, entries[source]["sha256"]), *artifact]
        subjects = [{"name": subject, "digest": {"sha256": digest}} for subject, digest in sorted(digests)]
        require(claim["subject"] == subjects, "wrong-subject", name)
        require(claim["predicateType"] == kind, "wrong-predicate", name)


def verify(directory, pem, now, max_age=None, artifact=None):
    """Verify a bundle and return its manifest."""
    key, paths = load_pem_public_key(pem), list_files(directory)
    try:
        manifest = read_manifest(paths.pop(MANIFEST).read_bytes(), key, now, max_age)
        entries = {entry["path"]: entry for entry in manifest["files"]}
        profile, listed = manifest["profile"], manifest["artifact"]
        compare_files(paths, entries)
        is_listed = PROFILE in entries and entries[PROFILE]["sha256"] == profile["sha256"]
        require(is_listed, "wrong-profile", PROFILE)
        require(PROFILES.get(profile["id"]) == profile["sha256"], "unknown-profile", PROFILE)
        check_attestations(paths, entries, [(listed["name"], listed["sha256"])] if listed else [], key)
        require(SUMMARY in entries, "missing-file", SUMMARY)
        require(listed or not artifact, "no-artifact", MANIFEST)
        matches = not artifact or sha256(artifact.read_bytes()).hexdigest() == listed["sha256"]
        require(matches, "wrong-artifact", MANIFEST)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise Refused("malformed", repr(error)) from None
    return manifest


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    bundle, public_key, *artifacts = map(Path, sys.argv[1:])
    try:
        verified = verify(bundle, public_key.read_bytes(), datetime.now(UTC), None, *artifacts)
    except (Refused, OSError, ValueError, UnsupportedAlgorithm) as error:  # or a missing file, or no key
        print("refused:", error)
        sys.exit(1)
    print("verified:", json.dumps(verified["server"]))
