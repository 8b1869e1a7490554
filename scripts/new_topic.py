"""Start a topic of the lab from a template: `make new-topic AREA=tools NAME=unknown_name REQUIREMENT=TL-19`.

The new module works as it is: a scenario that runs, a check that reads its trace and a saboteur that the
check catches. `tests/lab` then says what is still missing, the frozen catalogue first.
"""

import re
import sys
from pathlib import Path

SUITE = Path(__file__).parents[1] / "src" / "assay" / "lab" / "suite"
TEMPLATE = Path(__file__).with_name("topic.txt")
NAME = re.compile(r"[a-z][a-z0-9_]*")
REQUIREMENT = re.compile(r"[A-Z]+-\d\d")
USAGE = "make new-topic AREA=tools NAME=unknown_name REQUIREMENT=TL-19"


def refuse(problem: str) -> int:
    print(f"error: {problem}\n  {USAGE}", file=sys.stderr)
    return 2


def main(arguments: list[str]) -> int:
    if len(arguments) != 3:
        return refuse("AREA, NAME and REQUIREMENT are needed")
    area, name, requirement = arguments
    if not NAME.fullmatch(area) or not NAME.fullmatch(name):
        return refuse(f"AREA and NAME consist of lower-case letters, digits and underscores: {area} {name}")
    if not REQUIREMENT.fullmatch(requirement):
        return refuse(f"not the id of a requirement: {requirement}")
    path = SUITE / area / f"{name}.py"
    if path.exists() or path.parent.with_suffix(".py").exists():
        return refuse(f"the topic exists: {path if path.exists() else path.parent.with_suffix('.py')}")
    write(path, area, name, requirement)
    print(f"wrote {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")
    return 0


def write(path: Path, area: str, name: str, requirement: str) -> None:
    package = path.parent / "__init__.py"
    if not package.exists():
        path.parent.mkdir()
        package.write_text(f'"""{area.capitalize()}."""\n', "utf-8")
    text = TEMPLATE.read_text("utf-8")
    values = {
        "TITLE": name.replace("_", " ").capitalize(),
        "ID": f"{area}.{name}".replace("_", "-"),
        "NAME": name,
        "REQUIREMENT": requirement,
    }
    for key, value in values.items():
        text = text.replace(f"<{key}>", value)
    path.write_text(text, "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
