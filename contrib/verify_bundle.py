#!/usr/bin/env python3
"""A second opinion on a bundle of evidence: nothing of Assay in it, only Python and `cryptography`.

  python verify_bundle.py evidence/ dev.pub [ARTIFACT]

Says whether these are the files that the holder of the key has signed, all of them, valid now, about this
artifact; exits with 0, or with 1 and the reason. It does not judge whether summary, badge, predicates and run
agree with each other, about which only that holder could lie: `assay verify` does.
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

PROFILES = {"intelgraph/2025-10": "fe201ba9e3545cc762d71440b268336ed79ceee5e195cbf8c4cd64d5368ed273"}
MANIFEST, SUMMARY, PROFILE, IN_TOTO = "MANIFEST.json", "summary.json", "profile.toml", "https://in-toto.io/"
STATEMENTS = {  # attestation → the evidence that it is about, and the type of what it says
    "attestations/sbom.dsse.json": ("sbom.cdx.json", "https://cyclonedx.org/bom"),
    "attestations/summary.dsse.json": (SUMMARY, f"{IN_TOTO}attestation/test-result/v0.1"),
    "attestations/vulnerabilities.dsse.json": ("vulnerabilities.json", f"{IN_TOTO}attestation/vulns/v0.2"),
}
LARGEST, SKEW = 256 * 1024 * 1024, timedelta(minutes=5)


class Refused(Exception):
    """The reason, and where it shows."""


def need(good, reason, where):
    if not good:
        raise Refused(reason, where)


def canonical(value):
    """The one spelling of JSON that is signed. What was understood must give the same bytes again."""
    form = {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": False, "allow_nan": False}
    return json.dumps(value, **form).encode()


def opened(data, where, key, kind):
    """The document in a DSSE envelope, once the pinned key is known to have signed it."""
    key_id = "sha256:" + sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()
    envelope = json.loads(data.decode())
    payload, told = b64decode(envelope["payload"]), envelope["payloadType"]
    signed = [(one["keyid"], b64decode(one["sig"])) for one in envelope["signatures"]]
    signatures = [{"keyid": name, "sig": b64encode(signature).decode()} for name, signature in signed]
    again = {"payload": b64encode(payload).decode(), "payloadType": told, "signatures": signatures}
    need(canonical(again) == data, "malformed", where)
    need(told == kind, "wrong-type", where)
    need(signed, "unsigned", where)
    need(len(signed) == 1, "several-signatures", where)
    need(signed[0][0] == key_id, "unknown-key", where)
    try:
        key.verify(signed[0][1], b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload))
    except InvalidSignature:
        raise Refused("bad-signature", where) from None
    document = json.loads(payload.decode())
    need(canonical(document) == payload, "malformed", where)
    return document


def manifest(data, key, now, max_age):
    listed = opened(data, MANIFEST, key, "application/vnd.assay.manifest+json")
    begin, end = (datetime.fromisoformat(listed[name]) for name in ("created", "expires"))
    names = [entry["path"] for entry in listed["files"]]
    need(names == sorted(set(names)) and MANIFEST not in names, "bad-manifest", MANIFEST)
    need(listed["v"] == 1 and begin < end, "bad-manifest", MANIFEST)
    need(begin <= now + SKEW, "from-the-future", MANIFEST)
    need(now < end, "expired", MANIFEST)
    need(max_age is None or now - begin <= max_age, "too-old", MANIFEST)
    return listed


def plain_files(directory):
    """The files below it, by name. Only these are opened: never a path that a manifest names."""
    found, waiting = {}, [directory]
    while waiting:
        for path in waiting.pop().iterdir():
            name, mode = path.relative_to(directory).as_posix(), path.lstat().st_mode
            if stat.S_ISDIR(mode):
                waiting.append(path)
            else:
                need(stat.S_ISREG(mode), "unfit-file", name)
                found[name] = path
    need(MANIFEST in found, "missing-file", MANIFEST)
    need(found[MANIFEST].stat().st_size <= LARGEST, "malformed", MANIFEST)
    return found


def compare(found, entries):
    """None missing, none added, each with its size and digest."""
    need(entries.keys() <= found.keys(), "missing-file", min(entries.keys() - found, default=""))
    need(found.keys() <= entries.keys(), "added-file", min(found.keys() - entries, default=""))
    for name, entry in entries.items():
        need(entry["size"] <= LARGEST, "too-large", name)
        need(found[name].stat().st_size == entry["size"], "changed-file", name)
        need(sha256(found[name].read_bytes()).hexdigest() == entry["sha256"], "changed-file", name)


def attestations(found, entries, artifact, key):
    due = {name for name, (source, _) in STATEMENTS.items() if source in entries}
    signed = {name for name in entries if name.startswith("attestations/")}
    need(due <= signed, "missing-attestation", min(due - signed, default=""))
    need(signed <= due, "strange-attestation", min(signed - due, default=""))
    for name in sorted(due):
        source, kind = STATEMENTS[name]
        claim = opened(found[name].read_bytes(), name, key, "application/vnd.in-toto+json")
        need(claim["_type"] == f"{IN_TOTO}Statement/v1", "bad-statement", name)
        digests = [(source, entries[source]["sha256"]), *artifact]
        subjects = [{"name": about, "digest": {"sha256": digest}} for about, digest in sorted(digests)]
        need(claim["subject"] == subjects, "wrong-subject", name)
        need(claim["predicateType"] == kind, "wrong-predicate", name)


def verify(directory, pem, now, max_age=None, artifact=None):
    """What the manifest says, once the bundle is known to be what was signed."""
    key, found = load_pem_public_key(pem), plain_files(directory)
    try:
        listed = manifest(found.pop(MANIFEST).read_bytes(), key, now, max_age)
        entries = {entry["path"]: entry for entry in listed["files"]}
        profile, about = listed["profile"], listed["artifact"]
        compare(found, entries)
        is_listed = PROFILE in entries and entries[PROFILE]["sha256"] == profile["sha256"]
        need(is_listed, "wrong-profile", PROFILE)
        need(PROFILES.get(profile["id"]) == profile["sha256"], "unknown-profile", PROFILE)
        attestations(found, entries, [(about["name"], about["sha256"])] if about else [], key)
        need(SUMMARY in entries, "missing-file", SUMMARY)
        need(about or not artifact, "no-artifact", MANIFEST)
        right = not artifact or sha256(artifact.read_bytes()).hexdigest() == about["sha256"]
        need(right, "wrong-artifact", MANIFEST)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise Refused("malformed", repr(error)) from None
    return listed


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    given, pinned, *built = map(Path, sys.argv[1:])
    try:
        told = verify(given, pinned.read_bytes(), datetime.now(UTC), None, *built)
    except (Refused, OSError, ValueError, UnsupportedAlgorithm) as error:  # no such file, or no key
        print("refused:", error)
        sys.exit(1)
    print("verified:", json.dumps(told["server"]))
