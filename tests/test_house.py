"""The house around the code: what stands at the top, and files that say the same thing twice.

Where two files must agree (environment.yml and pyproject.toml, the README and the Makefile, the
notebooks and their sources) one of these tests reads both.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
GUIDES = ("README.md", "CONTRIBUTING.md")

TOP = {
    *("course", "lessons", "solutions", "tests", "tinygrad_course"),
    *("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md"),
    *("environment.yml", "pyproject.toml"),
}


def tracked() -> list[str]:
    """Paths of the files under version control."""
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"not a git checkout, which has the list of files: {done.stderr.strip()}")
    return [path for path in done.stdout.split("\0") if path]


def guide(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_top_level() -> None:
    found = {path.split("/")[0] for path in tracked()}
    assert {name for name in found if not name.startswith(".")} == TOP


def test_no_file_knows_a_machine() -> None:
    """No path of somebody's home or checkout, in sources or in a notebook's stored outputs."""
    machine = re.compile(
        rb"/root/|/home/[a-z]|/Users/[A-Za-z]|[A-Z]:\\+Users|"
        + re.escape(f"{ROOT}/").encode().replace(b"/", rb"[/]")
    )
    guilty = {}
    for path in tracked():
        if path == "tests/test_house.py" or not (ROOT / path).is_file():
            continue
        if found := machine.findall((ROOT / path).read_bytes()):
            guilty[path] = found[0]
    assert not guilty


def test_environment_is_in_step_with_pyproject() -> None:
    names = {"python-graphviz": "graphviz", "jupyter_client": "jupyter-client"}  # conda: PyPI
    *conda, pip = yaml.safe_load(guide("environment.yml"))["dependencies"]
    *from_pypi, ourselves = pip["pip"]
    assert ourselves == "-e ."

    def split(requirement: str) -> tuple[str, str]:
        name, span = re.fullmatch(r"([\w.-]+)\s*(.*)", requirement).groups()
        return names.get(name, name), span

    environment = dict(map(split, [*conda, *from_pypi]))
    assert environment.pop("pip") == ""
    assert environment.pop("python") == PROJECT["requires-python"]
    assert environment == dict(map(split, PROJECT["dependencies"]))


@pytest.mark.parametrize("name", GUIDES)
def test_make_targets_in_the_guides_exist(name: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", guide("Makefile"), re.M))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", guide(name), re.M))
    assert named
    assert named <= targets


@pytest.mark.parametrize("name", [*GUIDES, "course/TEACHING.md"])
def test_course_commands_in_the_guides_exist(name: str) -> None:
    from typer.main import get_command

    from course.cli import app

    named = set(re.findall(r"(?:^|`|[/\\])course ([a-z][a-z-]*)", guide(name), re.M))
    assert named
    assert named <= set(get_command(app).commands)


@pytest.mark.parametrize("name", GUIDES)
def test_what_the_guides_point_at_exists(name: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", guide(name))
    paths = re.findall(
        r"`((?:course|lessons|solutions|tests|tinygrad_course)/[\w./]*)`", guide(name)
    )
    paths = [path for path in paths if "NN_" not in path]  # where the name is the reader's to give
    missing = [path for path in links + paths if not (ROOT / path).exists()]
    assert not missing


def test_every_picture_in_the_readme_has_alternative_text() -> None:
    alternatives = re.findall(r"!\[([^\]]*)\]", guide("README.md"))
    assert alternatives
    assert all(len(text) > 30 for text in alternatives)


def test_changelog_tells_of_this_version() -> None:
    sections = re.split(r"^## ", guide("CHANGELOG.md"), flags=re.M)[1:]
    version = PROJECT["version"]
    entry = next((text for text in sections if text.startswith(version)), "")
    assert re.search(r"^- \w", entry, re.M), f"CHANGELOG.md has no entry for {version}"


def test_notebooks_equal_what_the_builder_makes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "course", "build", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
