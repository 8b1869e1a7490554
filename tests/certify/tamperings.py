"""Modifications of a bundle, and the reason with which it must be refused.

Some need only write access to the files, others the developer's key to sign again. The tables at the end say
which is which, and which verifier detects it.
"""

import base64
import json
import os
import shutil
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from assay.certify.bundle import layout
from assay.signing import canonical, dsse
from tests.certify import bundles
from tests.certify.bundles import DEVELOPER, HARNESS, STRANGER, edit, sign_again

Change = Callable[[Path], object]
SUMMARY = "attestations/summary.dsse.json"
SBOM = "attestations/sbom.dsse.json"


class Tampering(NamedTuple):
    change_files: Change
    reason: str
    options: Mapping[str, Any] = MappingProxyType({})


def add(name: str, data: bytes = b"x") -> Change:
    def change_files(bundle: Path) -> None:
        path = bundle / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    return change_files


def huge(bundle: Path) -> None:
    os.truncate(bundle / "report.html", 1 << 42)


def manifest_link(bundle: Path) -> None:
    shutil.move(bundle / layout.MANIFEST, bundle.parent / "m")
    (bundle / layout.MANIFEST).symlink_to(bundle.parent / "m")


def manifest_pipe(bundle: Path) -> None:
    (bundle / layout.MANIFEST).unlink()
    os.mkfifo(bundle / layout.MANIFEST)


ON_DISK = {
    "a file is added": Tampering(add("more.txt"), "added-file"),
    "a hidden file is added": Tampering(add(".hidden"), "added-file"),
    "an empty file is added": Tampering(add("empty", b""), "added-file"),
    "a file is added in a new folder": Tampering(add("a/b/c"), "added-file"),
    "a trace is added": Tampering(add("run/traces/more.ndjson"), "added-file"),
    "an attestation is added": Tampering(add("attestations/more.dsse.json"), "added-file"),
    "a key is added": Tampering(add("dev.pub", STRANGER.public.pem()), "added-file"),
    "a twin by case is added": Tampering(add("Badge.json"), "unfit-file"),
    "a name with a backslash is added": Tampering(add("a\\b"), "unfit-file"),
    "a name with a newline is added": Tampering(add("a\nb"), "unfit-file"),
    "a link to a file is added": Tampering(
        lambda bundle: (bundle / "l").symlink_to("badge.json"), "unfit-file"
    ),
    "a link to a folder is added": Tampering(lambda bundle: (bundle / "l").symlink_to("run"), "unfit-file"),
    "a link to nothing is added": Tampering(lambda bundle: (bundle / "l").symlink_to("no"), "unfit-file"),
    "a pipe is added": Tampering(lambda bundle: os.mkfifo(bundle / "p"), "unfit-file"),
    "the manifest is a link": Tampering(manifest_link, "unfit-file"),
    "the manifest is a pipe": Tampering(manifest_pipe, "unfit-file"),
    "a file is huge": Tampering(huge, "changed-file"),
    "the manifest is huge": Tampering(
        lambda bundle: os.truncate(bundle / layout.MANIFEST, 1 << 42), "malformed"
    ),
    "a file is empty": Tampering(lambda bundle: os.truncate(bundle / "report.md", 0), "changed-file"),
    "a folder takes the place of a file": Tampering(
        lambda bundle: ((bundle / "report.md").unlink(), (bundle / "report.md").mkdir()), "missing-file"
    ),
}


def envelope(change: Callable[[dict[str, Any]], object]) -> Change:
    """Change the envelope of the manifest without signing it."""

    def change_files(bundle: Path) -> None:
        value = json.loads((bundle / layout.MANIFEST).read_bytes())
        change(value)
        (bundle / layout.MANIFEST).write_bytes(canonical.encode(value))

    return change_files


def with_payload(change: Callable[[dict[str, Any]], object]) -> Change:
    def change_files(value: dict[str, Any]) -> None:
        payload = json.loads(base64.b64decode(value["payload"]))
        change(payload)
        value["payload"] = base64.b64encode(canonical.encode(payload)).decode()

    return envelope(change_files)


def second_signature(value: dict[str, Any]) -> None:
    payload = base64.b64decode(value["payload"])
    value["signatures"] += json.loads(dsse.sign(payload, STRANGER, value["payloadType"]))["signatures"]


def indented(bundle: Path) -> None:
    (bundle / layout.MANIFEST).write_text(
        json.dumps(json.loads((bundle / layout.MANIFEST).read_bytes()), indent=1, sort_keys=True)
    )


def twice(bundle: Path) -> None:
    """A duplicate key: other parsers may use the first one."""
    data = (bundle / layout.MANIFEST).read_bytes()
    (bundle / layout.MANIFEST).write_bytes(b'{"payload":"e30=",' + data[1:])


ENVELOPE = {
    "payload type changed": Tampering(envelope(lambda v: v.update(payloadType="text/plain")), "wrong-type"),
    "signatures removed": Tampering(envelope(lambda v: v.update(signatures=[])), "unsigned"),
    "a second signature": Tampering(envelope(second_signature), "several-signatures"),
    "the signature twice": Tampering(
        envelope(lambda v: v["signatures"].append(v["signatures"][0])), "several-signatures"
    ),
    "another key id": Tampering(
        envelope(lambda v: v["signatures"][0].update(keyid=STRANGER.public.id)), "unknown-key"
    ),
    "a key in the signature": Tampering(
        envelope(lambda v: v["signatures"][0].update(publicKey="x")), "malformed"
    ),
    "a field more": Tampering(envelope(lambda v: v.update(note="x")), "malformed"),
    "a field less": Tampering(envelope(lambda v: v.pop("signatures")), "malformed"),
    "no list of signatures": Tampering(envelope(lambda v: v.update(signatures={})), "malformed"),
    "payload no base64": Tampering(envelope(lambda v: v.update(payload="!")), "malformed"),
    "payload without padding": Tampering(envelope(lambda v: v.update(payload="e30")), "malformed"),
    "signature of zeros": Tampering(
        envelope(lambda v: v["signatures"][0].update(sig=base64.b64encode(bytes(64)).decode())),
        "bad-signature",
    ),
    "signature too short": Tampering(
        envelope(lambda v: v["signatures"][0].update(sig="AAAA")), "bad-signature"
    ),
    "formatted again": Tampering(indented, "malformed"),
    "a key twice": Tampering(twice, "malformed"),
    "no JSON": Tampering(add(layout.MANIFEST, b"\xff"), "malformed"),
    "an array": Tampering(add(layout.MANIFEST, b"[]"), "malformed"),
    "other server, not signed": Tampering(
        with_payload(lambda p: p["server"].update(name="x")), "bad-signature"
    ),
    "later end, not signed": Tampering(
        with_payload(lambda p: p.update(expires="2999-01-01T00:00:00Z")), "bad-signature"
    ),
    "signed by a stranger": Tampering(lambda bundle: sign_again(bundle, STRANGER), "unknown-key"),
    "signed by a stranger, with the key added": Tampering(
        lambda bundle: (
            add("stranger.pub", STRANGER.public.pem())(bundle),
            sign_again(bundle, STRANGER, lambda m: m.update(roles={STRANGER.public.id: "developer"})),
        ),
        "unknown-key",
    ),
    "signed by the harness": Tampering(lambda bundle: sign_again(bundle, HARNESS), "wrong-role"),
    "signed as another type": Tampering(
        lambda bundle: sign_again(bundle, payload_type=dsse.IN_TOTO), "wrong-type"
    ),
    "not signed at all": Tampering(
        lambda bundle: (shutil.rmtree(bundle), bundles.make(bundle, key=None)), "unsigned"
    ),
    "of another key pair": Tampering(
        lambda bundle: (shutil.rmtree(bundle), bundles.make(bundle, key=STRANGER)), "unknown-key"
    ),
}


def signed(change: Callable[[dict[str, Any]], object]) -> Change:
    """Change the manifest, and sign it with the right key."""
    return lambda bundle: sign_again(bundle, change=change)


def named(name: str) -> Change:
    return signed(lambda m: m["files"].insert(0, {**m["files"][0], "path": name}))


MANIFEST = {
    "a name twice": Tampering(signed(lambda m: m["files"].insert(0, m["files"][0])), "bad-manifest"),
    "a name that leads out": Tampering(named("../dev.pub"), "bad-manifest"),
    "an absolute name": Tampering(named("/etc/passwd"), "bad-manifest"),
    "a size with a fraction": Tampering(
        signed(lambda m: m["files"][0].update(size=m["files"][0]["size"] + 0.5)), "bad-manifest"
    ),
    "a name with a backslash": Tampering(named("a\\b"), "bad-manifest"),
    "a name with an escape": Tampering(named("a\x1b"), "bad-manifest"),
    "an empty name": Tampering(named(""), "bad-manifest"),
    "a twin by case": Tampering(named("ATTESTATIONS/sbom.dsse.json"), "bad-manifest"),
    "names not in order": Tampering(signed(lambda m: m["files"].reverse()), "bad-manifest"),
    "it lists itself": Tampering(named(layout.MANIFEST), "bad-manifest"),
    "another version": Tampering(signed(lambda m: m.update(v=2)), "bad-manifest"),
    "a field less": Tampering(signed(lambda m: m.pop("expires")), "bad-manifest"),
    "an end before the beginning": Tampering(
        signed(lambda m: m.update(expires="2000-01-01T00:00:00Z")), "bad-manifest"
    ),
    "no such day": Tampering(signed(lambda m: m.update(expires="2030-02-31T00:00:00Z")), "bad-manifest"),
    "time in another form": Tampering(
        signed(lambda m: m.update(expires="2030-4-1T0:00:00Z")), "bad-manifest"
    ),
    "no files": Tampering(signed(lambda m: m.update(files=None)), "bad-manifest"),
    "a file that is not there": Tampering(
        signed(lambda m: m["files"].append({**m["files"][0], "path": "zz"})), "missing-file"
    ),
    "a file left out": Tampering(signed(lambda m: m["files"].pop()), "added-file"),
    "a size below zero": Tampering(signed(lambda m: m["files"][0].update(size=-1)), "bad-manifest"),
    "digits of another script": Tampering(
        signed(lambda m: m.update(created="٢٠٣٠-01-01T00:00:00Z")), "bad-manifest"
    ),
    "an artifact without a digest": Tampering(
        signed(lambda m: m["artifact"].update(sha256="")), "bad-manifest"
    ),
    "files in an object": Tampering(signed(lambda m: m.update(files={})), "bad-manifest"),
    "a size above the limit": Tampering(signed(lambda m: m["files"][0].update(size=1 << 40)), "too-large"),
    "another size": Tampering(signed(lambda m: m["files"][0].update(size=1)), "changed-file"),
}


def days(count: float) -> datetime:
    return bundles.CREATED + timedelta(days=count)


def unchanged(bundle: Path) -> None:
    pass


VALIDITY = {
    "expired": Tampering(unchanged, "expired", {"now": days(90)}),
    "long expired": Tampering(unchanged, "expired", {"now": datetime(2040, 1, 1, tzinfo=UTC)}),
    "from the future": Tampering(unchanged, "from-the-future", {"now": days(-1)}),
    "from the near future": Tampering(unchanged, "from-the-future", {"now": days(-0.01)}),
    "too old": Tampering(unchanged, "too-old", {"max_age": timedelta(hours=23)}),
}


def evidence(name: str, change: Callable[[Any], object]) -> Change:
    """Edit a file of evidence, and sign the manifest again."""
    return lambda bundle: (edit(bundle / name, change), sign_again(bundle))


def replaced(name: str, data: bytes) -> Change:
    return lambda bundle: (add(name, data)(bundle), sign_again(bundle))


def dropped(name: str) -> Change:
    return lambda bundle: ((bundle / name).unlink(), sign_again(bundle))


def attested(name: str, change: Callable[[dict[str, Any]], object], key: Any = DEVELOPER) -> Change:
    """Edit a statement, sign it, and sign the manifest again."""

    def change_files(bundle: Path) -> None:
        value = json.loads(base64.b64decode(json.loads((bundle / name).read_bytes())["payload"]))
        change(value)
        (bundle / name).write_bytes(dsse.sign(canonical.encode(value), key))
        sign_again(bundle)

    return change_files


def another_list(bundle: Path) -> None:
    """Another list under the same name, with a matching manifest."""
    with (bundle / "profile.toml").open("ab") as file:
        file.write(b"\n# easier\n")
    digest = sha256((bundle / "profile.toml").read_bytes()).hexdigest()
    sign_again(bundle, change=lambda m: m["profile"].update(sha256=digest))


def foreign_statement(bundle: Path) -> None:
    other = bundles.make(bundle.parent / "other", bundles.CREATED + timedelta(hours=1))
    shutil.copy(other / SUMMARY, bundle / SUMMARY)
    sign_again(bundle)


UNPROVED = {"trace": "", "checks": [], "outcome": "incomplete", "attempt": 2}


def verdict(run: dict[str, Any], value: str) -> None:
    run["cells"][0]["checks"][0]["verdict"] = value


SIGNED = {
    "an edited list": Tampering(lambda b: (add("profile.toml")(b), sign_again(b)), "wrong-profile"),
    "no list": Tampering(dropped("profile.toml"), "wrong-profile"),
    "an easier list": Tampering(another_list, "unknown-profile"),
    "a list of another name": Tampering(
        signed(lambda m: m["profile"].update(id="easy/1")), "unknown-profile"
    ),
    "no attestation of the summary": Tampering(dropped(SUMMARY), "missing-attestation"),
    "no attestation of the SBOM": Tampering(dropped(SBOM), "missing-attestation"),
    "no summary": Tampering(
        lambda b: ((b / "summary.json").unlink(), (b / SUMMARY).unlink(), sign_again(b)), "missing-file"
    ),
    "no list, and none named": Tampering(
        lambda b: (
            (b / "profile.toml").unlink(),
            sign_again(b, change=lambda m: m["profile"].update(id="none", sha256=None)),
        ),
        "bad-manifest",
    ),
    "an attestation of nothing": Tampering(dropped("sbom.cdx.json"), "strange-attestation"),
    "an attestation of another bundle": Tampering(foreign_statement, "wrong-subject"),
    "attestations swapped": Tampering(
        lambda b: (
            shutil.move(b / SUMMARY, b / "x"),
            shutil.move(b / SBOM, b / SUMMARY),
            shutil.move(b / "x", b / SBOM),
            sign_again(b),
        ),
        "wrong-subject",
    ),
    "an attestation by a stranger": Tampering(attested(SUMMARY, lambda s: None, STRANGER), "unknown-key"),
    "an attestation by the harness": Tampering(attested(SUMMARY, lambda s: None, HARNESS), "wrong-role"),
    "an attestation about another artifact": Tampering(
        attested(SUMMARY, lambda s: s["subject"][0]["digest"].update(sha256="0" * 64)), "wrong-subject"
    ),
    "an attestation about less": Tampering(attested(SUMMARY, lambda s: s["subject"].pop()), "wrong-subject"),
    "an attestation of another kind": Tampering(
        attested(SUMMARY, lambda s: s.update(predicateType="https://example.org/x")), "wrong-predicate"
    ),
    "an attestation without a statement": Tampering(
        attested(SUMMARY, lambda s: s.update(_type="x")), "bad-statement"
    ),
    "an attestation without an envelope": Tampering(replaced(SUMMARY, b"{}"), "malformed"),
    "an attestation with another digest beside": Tampering(
        attested(SBOM, lambda s: s["subject"][0]["digest"].update(sha512="x")), "bad-statement"
    ),
    "an artifact with the name of evidence": Tampering(
        signed(lambda m: m["artifact"].update(name="summary.json")), "bad-evidence"
    ),
    "evidence of another form": Tampering(replaced("vulnerabilities.json", b"[]"), "bad-evidence"),
    "as old as can be": Tampering(
        signed(lambda m: m.update(created="0001-01-01T00:00:00Z")), "too-old", {"max_age": timedelta(days=1)}
    ),
}


def forged_summary(change: Callable[[dict[str, Any]], object]) -> Change:
    """Edit the summary, and rebuild statement, badges and manifest."""

    def change_files(bundle: Path) -> None:
        edit(bundle / "summary.json", change)
        bundles.attest_again(bundle)

    return change_files


def inflated(value: dict[str, Any]) -> None:
    value["conclusion"] = "met"
    value["summary"].update(passed=61, scored=61)


INVALID_MANIFEST = {
    "a version that is true": Tampering(signed(lambda m: m.update(v=True)), "bad-manifest"),
    "a field more": Tampering(signed(lambda m: m.update(note="x")), "bad-manifest"),
    "a file with a field more": Tampering(signed(lambda m: m["files"][0].update(note="x")), "bad-manifest"),
    "roles without the signer": Tampering(signed(lambda m: m.update(roles={})), "bad-manifest"),
    "the signer as harness": Tampering(
        signed(lambda m: m.update(roles={DEVELOPER.public.id: "harness"})), "bad-manifest"
    ),
    "an unknown role": Tampering(signed(lambda m: m["roles"].update(x="auditor")), "bad-manifest"),
    "a name in an object": Tampering(signed(lambda m: m["server"].update(name={})), "bad-manifest"),
    "too many keys": Tampering(
        signed(lambda m: m["roles"].update({str(number): "harness" for number in range(99)})), "bad-manifest"
    ),
}

CONTRADICTORY = {
    "an attestation that says more than its evidence": Tampering(
        attested(SUMMARY, lambda s: s["predicate"]["passedTests"].append("CONF-SEC-04.expired")),
        "wrong-predicate",
    ),
    "an attestation of another SBOM": Tampering(
        attested(SBOM, lambda s: s["predicate"].update(components=[])), "wrong-predicate"
    ),
    "an attestation that says true for 1": Tampering(
        attested(SBOM, lambda s: s["predicate"].update(version=True)), "wrong-predicate"
    ),
    "an attestation that leaves the list out": Tampering(
        attested(SUMMARY, lambda s: s["predicate"].update(configuration=[])), "wrong-predicate"
    ),
    "an attestation with a field more": Tampering(
        attested(SBOM, lambda s: s.update(note="x")), "bad-statement"
    ),
    "a run in UTF-16": Tampering(
        lambda b: replaced("run/run.json", (b / "run/run.json").read_text().encode("utf-16"))(b),
        "bad-evidence",
    ),
    "a run of long ago": Tampering(
        evidence("run/run.json", lambda r: r.update(started="2029-12-01T00:00:00Z")), "bad-evidence"
    ),
    "a run in the future": Tampering(
        evidence("run/run.json", lambda r: r.update(started="2030-01-02T00:00:00Z")), "bad-evidence"
    ),
    "a run without a time zone": Tampering(
        evidence("run/run.json", lambda r: r.update(started="2030-01-01T00:00:00")), "bad-evidence"
    ),
    "a run that was interrupted": Tampering(
        evidence("run/run.json", lambda r: r.update(interrupted=True)), "bad-evidence"
    ),
    "an unproved scenario": Tampering(
        lambda b: (
            edit(b / "run/run.json", lambda r: r["cells"].append({**r["cells"][0], **UNPROVED})),
            sign_again(b),
        ),
        "missing-trace",
    ),
    "a trace by a detour": Tampering(
        evidence("run/run.json", lambda r: r["cells"][0].update(trace="../run/" + r["cells"][0]["trace"])),
        "missing-trace",
    ),
    "a badge that is null": Tampering(replaced("badge.json", b"null"), "wrong-badge"),
    "a truncated badge": Tampering(replaced("badge.json", b"{"), "wrong-badge"),
    "a shield without a message": Tampering(replaced("shields.json", b"{}"), "wrong-badge"),
    "a registry entry that the summary does not know": Tampering(
        replaced("registry/server.json", b"{}"), "wrong-summary"
    ),
    "no run": Tampering(dropped("run/run.json"), "missing-file"),
    "an invalid run": Tampering(replaced("run/run.json", b"[]"), "bad-evidence"),
    "a trace dropped": Tampering(
        lambda b: (next((b / "run" / "traces").iterdir()).unlink(), sign_again(b)), "missing-trace"
    ),
    "a verdict without a trace": Tampering(
        evidence("run/run.json", lambda r: r["cells"][0].pop("trace")), "missing-trace"
    ),
    "a trace that the run hides": Tampering(
        evidence("run/run.json", lambda r: r["cells"].pop(0)), "bad-evidence"
    ),
    "one trace for two": Tampering(
        evidence("run/run.json", lambda r: r["cells"][0].update(trace=r["cells"][1]["trace"])), "bad-evidence"
    ),
    "another verdict in the run": Tampering(
        evidence("run/run.json", lambda r: verdict(r, "FAILURE")), "wrong-summary"
    ),
    "another badge": Tampering(evidence("badge.json", lambda b: b.update(passed=61)), "wrong-badge"),
    "a badge of another summary": Tampering(
        evidence("badge.json", lambda b: b.update(summarySha256="0" * 64)), "wrong-badge"
    ),
    "another shield": Tampering(evidence("shields.json", lambda s: s.update(message="61/61")), "wrong-badge"),
    "other metrics": Tampering(
        replaced("metrics.json", b'{"runs":[{"server":"my-server","metrics":{}}]}'), "wrong-summary"
    ),
    "metrics without the server": Tampering(replaced("metrics.json", b'{"runs":[]}'), "bad-evidence"),
    "another server in the manifest": Tampering(
        signed(lambda m: m["server"].update(name="other")), "wrong-summary"
    ),
    "a longer lifetime than in the summary": Tampering(
        signed(lambda m: m.update(expires="2031-01-01T00:00:00Z")), "wrong-summary"
    ),
}

FORGED_SUMMARY = {
    "a summary with more passes": Tampering(forged_summary(inflated), "wrong-summary"),
    "a summary of fewer demands": Tampering(forged_summary(lambda s: s["checks"].pop()), "wrong-summary"),
    "a summary that does not score a demand": Tampering(
        forged_summary(lambda s: s["checks"][0].update(scored=False)), "wrong-summary"
    ),
    "a summary of another run": Tampering(
        forged_summary(lambda s: s["run"].update(sha256="0" * 64)), "wrong-summary"
    ),
    "a summary of another server": Tampering(
        forged_summary(lambda s: s["server"].update(version="9")), "wrong-summary"
    ),
    "a summary of another artifact": Tampering(
        forged_summary(lambda s: s["server"].update(artifact=None)), "wrong-summary"
    ),
    "a summary by another signer": Tampering(
        forged_summary(lambda s: s["attested"].update(developer=STRANGER.public.id)), "wrong-summary"
    ),
    "a summary of other evidence": Tampering(
        forged_summary(lambda s: s["evidence"][0].update(sha256="0" * 64)), "wrong-summary"
    ),
    "a summary with another list": Tampering(
        forged_summary(lambda s: s["profile"].update(sha256="0" * 64)), "wrong-summary"
    ),
}

# Write access to the files is enough: no key is needed.
WITHOUT_KEY = {"disk": ON_DISK, "envelope": ENVELOPE, "time": VALIDITY}
# Signed again by the developer, but integrity is still broken: both verifiers detect it.
WITH_KEY = {"manifest": MANIFEST, "signed": SIGNED}
# Signed again by the developer, with intact files: only `assay verify` compares their contents.
FORGED = {"invalid": INVALID_MANIFEST, "contradictory": CONTRADICTORY, "summary": FORGED_SUMMARY}

# Both verifiers refuse, but the independent one gives another reason: it trusts one key for one role; it
# never opens a path from a manifest, so it need not validate names; it checks only the fields that it uses;
# and it does not read the evidence.
OTHER_REASONS = {
    "signed: no list, and none named": "wrong-profile",
    "envelope: signed by the harness": "unknown-key",
    "signed: an attestation by the harness": "unknown-key",
    "manifest: a size with a fraction": "malformed",
    "manifest: a name that leads out": "missing-file",
    "manifest: an absolute name": "missing-file",
    "manifest: a name with a backslash": "missing-file",
    "manifest: a name with an escape": "missing-file",
    "manifest: an empty name": "missing-file",
    "manifest: a twin by case": "missing-file",
    "manifest: a field less": "malformed",
    "manifest: no such day": "malformed",
    "manifest: time in another form": "malformed",
    "manifest: no files": "malformed",
    "manifest: a size below zero": "changed-file",
    "manifest: digits of another script": "malformed",
    "manifest: an artifact without a digest": "wrong-subject",
    "manifest: files in an object": "added-file",
    "disk: a twin by case is added": "added-file",
    "disk: a name with a backslash is added": "added-file",
    "disk: a name with a newline is added": "added-file",
    "signed: an attestation with another digest beside": "wrong-subject",
    "signed: an artifact with the name of evidence": "wrong-subject",
    "signed: evidence of another form": "wrong-subject",
}


def rows(groups: Mapping[str, Mapping[str, Tampering]]) -> dict[str, Tampering]:
    return {
        f"{group}: {name}": row for group, tamperings in groups.items() for name, row in tamperings.items()
    }
