"""Write a new scenario, check or saboteur from its template (`make new-check AREA=tools NAME=x ROW=TL-19`).

What is written works as it is: a scenario that runs, a check that looks at every exchange, a saboteur that
changes every reply. The tests in `tests/lab/suite` then say what is still missing.
"""

import re
import sys
from pathlib import Path

SUITE = Path(__file__).parents[1] / "src" / "assay" / "lab" / "suite"
TEMPLATES = Path(__file__).parent / "parts"
KINDS = ("scenario", "check", "saboteur")
NAME = re.compile(r"[a-z][a-z0-9_]*")
ROW = re.compile(r"[A-Z]+-\d\d")


def refuse(problem: str) -> int:
    print(f"error: {problem}", file=sys.stderr)
    print(
        "  make new-scenario|new-check|new-saboteur AREA=tools NAME=unknown_name ROW=TL-19", file=sys.stderr
    )
    return 2


def main(arguments: list[str]) -> int:
    if len(arguments) != 4 or arguments[0] not in KINDS:
        return refuse(f"kind, area, name and row are needed: {' '.join(arguments) or 'nothing given'}")
    kind, area, name, row = arguments
    if not NAME.fullmatch(area) or not NAME.fullmatch(name):
        return refuse(f"area and name are words of small letters, digits and _: {area} {name}")
    if not ROW.fullmatch(row):
        return refuse(f"not the id of a requirement: {row}")
    path = SUITE / f"{kind}s" / area / f"{name}.py"
    if path.exists():
        return refuse(f"{path} is there already")
    return write(path, kind, {"AREA": area, "ID": f"{area}.{name}".replace("_", "-"), "ROW": row})


def write(path: Path, kind: str, values: dict[str, str]) -> int:
    package = path.parent / "__init__.py"
    if not package.exists():
        path.parent.mkdir()
        package.write_text(f'"""{values["AREA"].capitalize()}."""\n', "utf-8")
    text = (TEMPLATES / f"{kind}.txt").read_text("utf-8")
    for key, value in values.items():
        text = text.replace(f"<{key}>", value)
    path.write_text(text, "utf-8")
    print(f"wrote {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
