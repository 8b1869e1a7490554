#!/usr/bin/env python3
"""A second opinion on a bundle of evidence: nothing of Assay in it, only Python and `cryptography`.

  python verify_bundle.py evidence/ dev.pub [ARTIFACT]

Prints what the bundle is about and exits 0, or prints why it is refused and exits 1. It reads
docs/certification.md in its own way, to be compared with `assay verify`. It does not judge traces again,
which takes the lab, and does not look at who signed the metrics.
"""

import base64
import json
import os
import stat
import sys
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from posixpath import normpath
from unicodedata import category, normalize

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

PROFILES = {"intelgraph/2025-10": "fe201ba9e3545cc762d71440b268336ed79ceee5e195cbf8c4cd64d5368ed273"}
MANIFEST, SUMMARY, RUN, PROFILE = "MANIFEST.json", "summary.json", "run/run.json", "profile.toml"
FORM = {"v", "server", "artifact", "profile", "created", "expires", "roles", "files"}
STATEMENTS = {
    "attestations/sbom.dsse.json": ("sbom.cdx.json", "https://cyclonedx.org/bom"),
    "attestations/summary.dsse.json": (SUMMARY, "https://in-toto.io/attestation/test-result/v0.1"),
    "attestations/vulnerabilities.dsse.json": (
        "vulnerabilities.json",
        "https://in-toto.io/attestation/vulns/v0.2",
    ),
}
LARGEST = 32 * 1024 * 1024
ODD = (KeyError, TypeError, ValueError, AttributeError, RecursionError)


class Refused(Exception):
    """Reason and where."""


def need(good, reason, where):
    if not good:
        raise Refused(reason, where)


def canonical(data):
    """JSON in the one form in which it is signed."""
    value = json.loads(data)
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    if len(data) > LARGEST or text.encode() != data:
        raise ValueError("another form")
    return value


def plain(text):
    data = base64.b64decode(text, validate=True)
    if base64.b64encode(data).decode() != text:
        raise ValueError("loose bits")
    return data


def hexed(data):
    return sha256(data).hexdigest()


def key_id(key):
    return "sha256:" + hexed(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))


def opened(data, where, key, kind):
    """The payload of an envelope, once the pinned key is known to have signed it."""
    try:
        envelope = canonical(data)
        payload, signatures = plain(envelope["payload"]), envelope["signatures"]
        signed = [(one["keyid"], plain(one["sig"])) for one in signatures]
        good = len(envelope) == 3 and isinstance(signatures, list)
        need(good and all(len(one) == 2 for one in signatures), "malformed", where)
    except ODD:
        raise Refused("malformed", where) from None
    need(envelope["payloadType"] == kind, "wrong-type", where)
    need(signed, "unsigned", where)
    need(len(signed) == 1, "several-signatures", where)
    need(signed[0][0] == key_id(key), "unknown-key", where)
    try:
        key.verify(signed[0][1], b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload))
    except InvalidSignature:
        raise Refused("bad-signature", where) from None
    return payload


def is_name(name):
    odd = {"", ".", ".."} & set(name.split("/")) or "\\" in name or normalize("NFC", name) != name
    return not odd and len(name) <= 1024 and not any(category(one) in ("Cc", "Cs") for one in name)


def moment(text):
    found = datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    need(len(text) == len("2000-01-01T00:00:00Z"), "bad-manifest", MANIFEST)
    return found


def manifest(directory, key):
    path = directory / MANIFEST
    need(os.path.lexists(path), "missing-file", MANIFEST)
    need(stat.S_ISREG(path.lstat().st_mode), "unfit-file", MANIFEST)
    need(path.stat().st_size <= LARGEST, "malformed", MANIFEST)
    payload = opened(path.read_bytes(), MANIFEST, key, "application/vnd.assay.manifest+json")
    try:
        listed = canonical(payload)
        names = [entry["path"] for entry in listed["files"]]
        good = [
            set(listed) == FORM and repr(listed["v"]) == "1",
            set(listed["server"]) == {"name", "version"} and set(listed["profile"]) == {"id", "sha256"},
            listed["artifact"] is None or set(listed["artifact"]) == {"name", "sha256"},
            moment(listed["created"]) < moment(listed["expires"]),
            listed["roles"].get(key_id(key)) == "developer",
            set(listed["roles"].values()) <= {"developer", "harness"},
            names == sorted(names) and len({name.casefold() for name in names}) == len(names),
            all(map(is_name, names)) and MANIFEST not in names,
            all(set(entry) == {"path", "sha256", "size"} for entry in listed["files"]),
        ]
    except ODD:
        raise Refused("bad-manifest", MANIFEST) from None
    need(all(good), "bad-manifest", MANIFEST)
    return listed


def validity(listed, now, max_age):
    begin, end = moment(listed["created"]), moment(listed["expires"])
    need(begin <= now + timedelta(minutes=5), "from-the-future", MANIFEST)
    need(now < end, "expired", MANIFEST)
    need(max_age is None or now <= begin + max_age, "too-old", MANIFEST)


def files(directory, listed):
    """The bytes of every file, which are those that are listed."""
    found = {}
    for folder, folders, names in os.walk(directory):
        for path in (Path(folder, name) for name in folders + names):
            mode, name = path.lstat().st_mode, normalize("NFC", path.relative_to(directory).as_posix())
            if not stat.S_ISDIR(mode):
                need(stat.S_ISREG(mode) and is_name(name), "unfit-file", name)
                found[name] = path
    need(len({name.casefold() for name in found}) == len(found), "unfit-file", str(directory))
    del found[MANIFEST]
    entries = {entry["path"]: entry for entry in listed["files"]}
    need(entries.keys() <= found.keys(), "missing-file", min(entries.keys() - found, default=""))
    need(found.keys() <= entries.keys(), "added-file", min(found.keys() - entries, default=""))
    for name, path in sorted(found.items()):
        need(path.stat().st_size == entries[name]["size"], "changed-file", name)
        found[name] = path.read_bytes()
        need(hexed(found[name]) == entries[name]["sha256"], "changed-file", name)
    return found


def statements(found, listed, key):
    expected = {name for name, (source, _) in STATEMENTS.items() if source in found}
    signed = {name for name in found if name.startswith("attestations/")}
    need(expected <= signed, "missing-attestation", min(expected - signed, default=""))
    need(signed <= expected, "strange-attestation", min(signed - expected, default=""))
    for name in sorted(expected):
        source, kind = STATEMENTS[name]
        payload = opened(found[name], name, key, "application/vnd.in-toto+json")
        artifact = listed["artifact"] or {"name": source, "sha256": hexed(found[source])}
        subjects = {source: hexed(found[source]), artifact["name"]: artifact["sha256"]}
        try:
            claimed = canonical(payload)
            about = {one["name"]: one["digest"]["sha256"] for one in claimed["subject"]}
            need(claimed["_type"] == "https://in-toto.io/Statement/v1", "bad-statement", name)
            need(about == subjects and len(about) == len(claimed["subject"]), "wrong-subject", name)
            good = claimed["predicateType"] == kind
            good = good and says(source, claimed["predicate"], json.loads(found[source]))
        except ODD:
            raise Refused("bad-statement", name) from None
        need(good, "wrong-predicate", name)


def says(source, predicate, evidence):
    """Whether a statement says what its evidence does."""
    if source == "vulnerabilities.json":
        found = [one["id"] for one in evidence["findings"]]
        return [one["id"] for one in predicate["scanner"]["result"]] == found
    if source != SUMMARY:
        return predicate == evidence
    scored = [(one["id"], one["status"]) for one in evidence["checks"] if one["scored"]]
    lists = {"passedTests": "SUCCESS", "warnedTests": "WARNING", "failedTests": "FAILURE"}
    told = {name: [one for one, status in scored if status == wanted] for name, wanted in lists.items()}
    met = "WARNED" if told["warnedTests"] else "PASSED" if told["passedTests"] else "FAILED"
    told["result"] = "FAILED" if told["failedTests"] else met
    return all(predicate[name] == value for name, value in told.items())


def run(found):
    """The run, once there is a trace behind each of its verdicts."""
    need(RUN in found, "missing-file", RUN)
    try:
        cells = json.loads(found[RUN])["cells"]
        named = [normpath("run/" + cell["trace"]) for cell in cells if cell.get("trace")]
        good = all(cell.get("trace") or not cell.get("checks") for cell in cells)
    except ODD:
        raise Refused("bad-evidence", RUN) from None
    need(good and set(named) <= found.keys(), "missing-trace", RUN)
    need(sorted(named) == sorted(name for name in found if name.endswith(".ndjson")), "bad-evidence", RUN)
    return cells


def summary(found, listed, key, cells):
    """Summary and badges, once they agree with the manifest, the files and the run."""
    try:
        made = json.loads(found[SUMMARY])
        server, counts = made["server"], made["summary"]
        scored = [one["status"] for one in made["checks"] if one["scored"] and one["measure"] == "measured"]
        failed = {
            check["id"] for cell in cells for check in cell.get("checks", ()) if check["verdict"] == "FAILURE"
        }
        good = [
            {name: server[name] for name in ("name", "version")} == listed["server"],
            (server["artifact"], made["profile"]) == (listed["artifact"], listed["profile"]),
            (made["generatedAt"], made["expiresAt"]) == (listed["created"], listed["expires"]),
            made["attested"]["developer"] == key_id(key) and made["run"]["sha256"] == hexed(found[RUN]),
            all(hexed(found[one["name"]]) == one["sha256"] for one in made["evidence"]),
            all(one["status"] == "FAILURE" for one in made["checks"] if one["id"] in failed),
            counts["failed"] == scored.count("FAILURE") and counts["scored"] == len(scored),
            counts["passed"] + counts["failed"] == counts["scored"],
            (made["conclusion"] == "not met") == ("FAILURE" in scored),
        ]
    except ODD:
        raise Refused("bad-evidence", SUMMARY) from None
    need(all(good), "wrong-summary", SUMMARY)
    badge, shields = (json.loads(found.get(name, "null")) for name in ("badge.json", "shields.json"))
    counted = {name: counts[name] for name in ("passed", "scored", "notMeasured")}
    expected = {**counted, "conclusion": made["conclusion"], "summarySha256": hexed(found[SUMMARY])}
    need(badge is None or expected.items() <= badge.items(), "wrong-badge", "badge.json")
    told = f"{counts['passed']}/{counts['scored']}"
    need(shields is None or shields["message"].split(",")[0] == told, "wrong-badge", "shields.json")


def verify(directory, pem, now, max_age=None, artifact=None):
    """What the manifest says, once all of the bundle bears it out."""
    key = load_pem_public_key(pem)
    listed = manifest(directory, key)
    validity(listed, now, max_age)
    found = files(directory, listed)
    profile = listed["profile"]
    need(hexed(found.get(PROFILE, b"")) == profile["sha256"], "wrong-profile", PROFILE)
    need(PROFILES.get(profile["id"]) == profile["sha256"], "unknown-profile", PROFILE)
    statements(found, listed, key)
    summary(found, listed, key, run(found))
    if artifact is not None:
        need(listed["artifact"], "no-artifact", MANIFEST)
        need(hexed(artifact.read_bytes()) == listed["artifact"]["sha256"], "wrong-artifact", MANIFEST)
    return listed


def main(arguments):
    if len(arguments) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    directory, pem, *artifact = map(Path, arguments)
    try:
        listed = verify(directory, pem.read_bytes(), datetime.now(UTC), None, *artifact)
    except Refused as error:
        print("refused:", *map(ascii, error.args))
        return 1
    print("verified:", *map(ascii, listed["server"].values()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
