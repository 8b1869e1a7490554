#!/usr/bin/env python3
"""A second opinion on a bundle of evidence: nothing of Assay in it, only Python and `cryptography`.

  python verify_bundle.py evidence/ dev.pub [ARTIFACT]

Prints what the bundle is about and exits 0, or why it is refused and exits 1; 3 if it cannot be read. It
reads docs/certification.md in its own way, to be compared with `assay verify`. It does not judge traces
again, which takes the lab, and does not look at who signed the metrics.
"""

import base64
import json
import os
import re
import stat
import sys
import tomllib
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from unicodedata import category, normalize

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

PROFILES = {"intelgraph/2025-10": "fe201ba9e3545cc762d71440b268336ed79ceee5e195cbf8c4cd64d5368ed273"}
MANIFEST, SUMMARY, RUN, PROFILE = "MANIFEST.json", "summary.json", "run/run.json", "profile.toml"
SBOM, FLAWS, SIGNED = "sbom.cdx.json", "vulnerabilities.json", "attestations/"
REGISTRY = {f"registry/{name}.json" for name in ("server", "mcp-tools", "mcp-resources", "mcp-prompts")}
EVIDENCE = {RUN, SBOM, FLAWS, "metrics.json", *REGISTRY}
LARGEST, SKEW, AT_ONCE = 256 * 1024 * 1024, timedelta(minutes=5), timedelta(days=1)

# The form of what is signed: a pattern of text, a type, a list of members, or exactly these fields.
TEXT, WORD, DIGEST = r"(?s).*", r"(?s).{1,256}", r"[0-9a-f]{64}"
TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"
ENVELOPE = {"payload": TEXT, "payloadType": TEXT, "signatures": [{"keyid": TEXT, "sig": TEXT}]}
SUBJECT = {"name": TEXT, "digest": {"sha256": DIGEST}}
CLAIM = {"_type": TEXT, "subject": [SUBJECT], "predicateType": TEXT, "predicate": dict}
ARTIFACT, FILE = {"name": WORD, "sha256": DIGEST}, {"path": TEXT, "sha256": DIGEST, "size": int}
ABOUT = {"server": {"name": WORD, "version": WORD}, "profile": {"id": WORD, "sha256": DIGEST}}
LISTED = ABOUT | {
    "v": int,
    "created": TIME,
    "expires": TIME,
    "artifact": object,
    "roles": dict,
    "files": [FILE],
}


class Refused(Exception):
    """Reason and where."""


def need(good, reason, where):
    if not good:
        raise Refused(reason, where)


@contextmanager
def reading(reason, where):
    """Whatever is not as it must be to be read is refused."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise Refused(reason, where) from None


def fits(value, form):
    if isinstance(form, str):
        return isinstance(value, str) and re.fullmatch(form, value) is not None
    if isinstance(form, list):
        return isinstance(value, list) and all(fits(one, form[0]) for one in value)
    if isinstance(form, dict):
        there = isinstance(value, dict) and value.keys() == form.keys()
        return there and all(fits(value[name], one) for name, one in form.items())
    return form in (object, type(value))


def encode(value):
    """JSON in the one form in which it is signed."""
    form = {"sort_keys": True, "separators": (",", ":"), "ensure_ascii": False, "allow_nan": False}
    return json.dumps(value, **form).encode()


def decode(data, form):
    value = json.loads(data.decode())
    if len(data) > LARGEST // 8 or not fits(value, form) or encode(value) != data:
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
    with reading("malformed", where):
        envelope = decode(data, ENVELOPE)
        payload = plain(envelope["payload"])
        signed = [(one["keyid"], plain(one["sig"])) for one in envelope["signatures"]]
    need(envelope["payloadType"] == kind, "wrong-type", where)
    need(signed, "unsigned", where)
    need(len(signed) == 1, "several-signatures", where)
    need(signed[0][0] == key_id(key), "unknown-key", where)
    try:
        key.verify(signed[0][1], b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload))
    except InvalidSignature:
        raise Refused("bad-signature", where) from None
    return payload


def are_names(names):
    """Whether they lead nowhere else, and are different names on every system."""
    for name in names:
        odd = {"", ".", ".."} & set(name.split("/")) or "\\" in name or normalize("NFC", name) != name
        if odd or len(name) > 1024 or any(category(one) in ("Cc", "Cs") for one in name):
            return False
    return len({normalize("NFC", name.casefold()) for name in names}) == len(names)


def moment(text):
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)


def manifest(directory, key, now, max_age):
    path = directory / MANIFEST
    need(os.path.lexists(path), "missing-file", MANIFEST)
    need(stat.S_ISREG(path.lstat().st_mode), "unfit-file", MANIFEST)
    need(path.stat().st_size <= LARGEST, "malformed", MANIFEST)
    payload = opened(path.read_bytes(), MANIFEST, key, "application/vnd.assay.manifest+json")
    with reading("bad-manifest", MANIFEST):
        listed = decode(payload, LISTED)
        begin, end, roles = moment(listed["created"]), moment(listed["expires"]), listed["roles"]
        names = [entry["path"] for entry in listed["files"]]
        good = (
            listed["v"] == 1
            and begin < end
            and (listed["artifact"] is None or fits(listed["artifact"], ARTIFACT))
        )
        good = good and names == sorted(names) and are_names(names) and MANIFEST not in names
        good = good and len(names) <= 100_000 and all(entry["size"] >= 0 for entry in listed["files"])
        good = good and set(roles.values()) <= {"developer", "harness"} and len(roles) <= 16
        need(good and roles.get(key_id(key)) == "developer", "bad-manifest", MANIFEST)
    need(begin <= now + SKEW, "from-the-future", MANIFEST)
    need(now < end, "expired", MANIFEST)
    need(max_age is None or now - begin <= max_age, "too-old", MANIFEST)
    return listed


def unreadable(error):
    raise error


def contents(directory, listed):
    """The bytes of every file but traces, once all are those that are listed."""
    found, entries = {}, {entry["path"]: entry for entry in listed["files"]}
    for name, entry in entries.items():
        need(entry["size"] <= LARGEST, "too-large", name)
    for folder, folders, names in os.walk(directory, onerror=unreadable):
        for path in (Path(folder, name) for name in folders + names):
            mode, name = path.lstat().st_mode, normalize("NFC", path.relative_to(directory).as_posix())
            if not stat.S_ISDIR(mode):
                need(stat.S_ISREG(mode), "unfit-file", name)
                found[name] = path
    need(are_names(found), "unfit-file", str(directory))
    del found[MANIFEST]
    need(entries.keys() <= found.keys(), "missing-file", min(entries.keys() - found, default=""))
    need(found.keys() <= entries.keys(), "added-file", min(found.keys() - entries, default=""))
    for name, path in sorted(found.items()):
        need(path.stat().st_size == entries[name]["size"], "changed-file", name)
        data = path.read_bytes()
        need(hexed(data) == entries[name]["sha256"], "changed-file", name)
        found[name] = b"" if name.endswith(".ndjson") else data
    return found


def tested(made, listed):
    lists = {"passedTests": "SUCCESS", "warnedTests": "WARNING", "failedTests": "FAILURE"}
    scored = [one for one in made["checks"] if one["scored"]]
    told = {name: [one["id"] for one in scored if one["status"] == wanted] for name, wanted in lists.items()}
    good = "WARNED" if told["warnedTests"] else "PASSED"
    profile = {"name": listed["profile"]["id"], "digest": {"sha256": listed["profile"]["sha256"]}}
    return {**told, "result": good if made["conclusion"] == "met" else "FAILED", "configuration": [profile]}


def scanned(made, listed):
    export = {"uri": f"sha256:{made['exportSha256']}", "lastUpdate": made["newest"]}
    found = [{"id": one["id"], "severity": one.get("severity", [])} for one in made["findings"]]
    times = {"scanStartedOn": listed["created"], "scanFinishedOn": listed["created"]}
    return {"scanner": {"uri": "pkg:pypi/assay", "db": export, "result": found}, "metadata": times}


STATEMENTS = {
    f"{SIGNED}sbom.dsse.json": (SBOM, "https://cyclonedx.org/bom", lambda made, listed: made),
    f"{SIGNED}summary.dsse.json": (SUMMARY, "https://in-toto.io/attestation/test-result/v0.1", tested),
    f"{SIGNED}vulnerabilities.dsse.json": (FLAWS, "https://in-toto.io/attestation/vulns/v0.2", scanned),
}


def claim(found, listed, source, kind, predicate):
    """What must be stated about a piece of evidence."""
    artifact, digests = listed["artifact"], {source: hexed(found[source])}
    if artifact is not None:
        need(artifact["name"] != source, "bad-evidence", SIGNED)
        digests[artifact["name"]] = artifact["sha256"]
    subjects = [{"name": name, "digest": {"sha256": digest}} for name, digest in sorted(digests.items())]
    said = {"predicateType": kind, "predicate": predicate(json.loads(found[source].decode()), listed)}
    return {"_type": "https://in-toto.io/Statement/v1", "subject": subjects, **said}


def statements(found, listed, key):
    with reading("bad-evidence", SIGNED):
        due = {name: claim(found, listed, *row) for name, row in STATEMENTS.items() if row[0] in found}
    signed = {name for name in found if name.startswith(SIGNED)}
    need(due.keys() <= signed, "missing-attestation", min(due.keys() - signed, default=""))
    need(signed <= due.keys(), "strange-attestation", min(signed - due.keys(), default=""))
    for name, expected in sorted(due.items()):
        payload = opened(found[name], name, key, "application/vnd.in-toto+json")
        with reading("bad-statement", name):
            claimed, right = decode(payload, CLAIM), encode(expected)
        need(claimed["_type"] == expected["_type"], "bad-statement", name)
        need(claimed["subject"] == expected["subject"], "wrong-subject", name)
        need(payload == right, "wrong-predicate", name)


def run(found, listed):
    """The cells of the run, once it is of that time and there is a trace behind each verdict."""
    need(RUN in found, "missing-file", RUN)
    with reading("bad-evidence", RUN):
        made, stored = moment(listed["created"]), json.loads(found[RUN].decode())
        good = -SKEW <= made - datetime.fromisoformat(stored["started"]) <= AT_ONCE
        named = ["run/" + cell["trace"] for cell in stored["cells"] if cell.get("trace")]
        bare = [cell for cell in stored["cells"] if not cell.get("trace")]
        proved = not any(cell.get("checks") or cell["outcome"] != "not applicable" for cell in bare)
        need(good and not stored.get("interrupted"), "bad-evidence", RUN)
    need(proved and set(named) <= found.keys(), "missing-trace", RUN)
    traces = [name for name in found if name.startswith("run/") and name.endswith(".ndjson")]
    need(sorted(named) == sorted(traces), "bad-evidence", RUN)
    return stored["cells"]


def failures(cells, demands):
    """The demands that the run shows to be broken."""
    where = {one["id"]: one["transports"] for one in demands if one["by"] == "traces"}
    checks = [(cell["transport"], one) for cell in cells for one in cell.get("checks", ())]
    broken = {(one["id"], place) for place, one in checks if one["verdict"] == "FAILURE"}
    return {name for name, place in broken if place in where.get(name, ())}


def summary(found, listed, key, cells):
    """Summary and badges, once they agree with the list, the manifest, the files and the run."""
    with reading("bad-evidence", SUMMARY):
        made, demands = json.loads(found[SUMMARY].decode()), tomllib.loads(found[PROFILE].decode())["demand"]
        about, counts, checks = made["server"], made["summary"], made["checks"]
        scored = [one["status"] for one in checks if one["scored"] and one["measure"] == "measured"]
        failed, unseen = scored.count("FAILURE"), sum(one["measure"] == "not measured" for one in checks)
        broken = failures(cells, demands)
        digests = {one["name"]: one["sha256"] for one in made["evidence"]}
        counted = (counts["scored"], counts["failed"], counts["passed"], counts["notMeasured"])
        good = [
            {name: about[name] for name in ("name", "version")} == listed["server"],
            (about["artifact"], made["profile"]) == (listed["artifact"], listed["profile"]),
            (made["generatedAt"], made["expiresAt"]) == (listed["created"], listed["expires"]),
            made["attested"]["developer"] == key_id(key) and made["run"]["sha256"] == hexed(found[RUN]),
            digests == {name: hexed(found[name]) for name in EVIDENCE & found.keys()},
            [(one["id"], one["scored"]) for one in checks] == [(one["id"], one["scored"]) for one in demands],
            all(one["status"] == "FAILURE" for one in checks if one["id"] in broken),
            counted == (len(scored), failed, len(scored) - failed, unseen),
            (made["conclusion"] == "not met") == (failed > 0),
        ]
        said = {name: made[name] for name in ("conclusion", "generatedAt", "expiresAt", "profile")}
        said |= {name: counts[name] for name in ("passed", "scored", "notMeasured")}
        said |= {"server": about["name"], "summarySha256": hexed(found[SUMMARY])}
    need(all(good), "wrong-summary", SUMMARY)
    told = f"{counts['passed']}/{counts['scored']}"
    with reading("wrong-badge", "badge.json"):
        badge = json.loads(found.get("badge.json", encode(said)).decode())
        need(said.items() <= badge.items(), "wrong-badge", "badge.json")
    with reading("wrong-badge", "shields.json"):
        shield = json.loads(found.get("shields.json", encode({"message": told})).decode())
        need(shield["message"].split(",")[0] == told, "wrong-badge", "shields.json")


def verify(directory, pem, now, max_age=None, artifact=None):
    """What the manifest says, once all of the bundle bears it out."""
    key = load_pem_public_key(pem)
    listed = manifest(directory, key, now, max_age)
    found, profile = contents(directory, listed), listed["profile"]
    need(hexed(found.get(PROFILE, b"")) == profile["sha256"], "wrong-profile", PROFILE)
    need(PROFILES.get(profile["id"]) == profile["sha256"], "unknown-profile", PROFILE)
    statements(found, listed, key)
    summary(found, listed, key, run(found, listed))
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
    except (OSError, ValueError, TypeError) as error:  # no such file, or no Ed25519 key
        print("cannot read:", ascii(str(error)), file=sys.stderr)
        return 3
    print("verified:", *map(ascii, listed["server"].values()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
