"""What is published: a wheel and an sdist that hold the package, all of it, and describe it."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import langmem_plugin

_ROOT = Path(__file__).parents[1]
_PACKAGE = {
    str(each.relative_to(_ROOT))
    for each in (_ROOT / "langmem_plugin").rglob("*")
    if each.is_file() and "__pycache__" not in each.parts
}


def _run(*command) -> str:
    done = subprocess.run([sys.executable, "-m", *command], cwd=_ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    _run("build", "--no-isolation", "--outdir", folder)
    return folder


@pytest.mark.slow
@pytest.mark.spec("U-11")
def test_the_wheel_is_the_package_with_its_data_and_nothing_else(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())

    beside = {name for name in names if not name.startswith("langmem_plugin/")}
    assert names - beside == _PACKAGE
    assert "langmem_plugin/py.typed" in names
    assert {re.sub(r"^phone_memory-[\d.]+\.dist-info/", "", name) for name in beside} == {
        *("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE", "licenses/NOTICE")
    }


@pytest.mark.slow
@pytest.mark.spec("U-11")
def test_the_sdist_is_the_package_and_what_describes_it(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}

    assert names - _PACKAGE == {
        *("CHANGELOG.md", "LICENSE", "NOTICE", "PKG-INFO", "README.md", "SECURITY.md", "pyproject.toml", ".gitignore")
    }


@pytest.mark.slow
@pytest.mark.spec("U-11")
def test_the_description_is_what_an_index_shows_and_its_links_lead_somewhere(built):
    _run("twine", "check", "--strict", *built.iterdir())
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        described = wheel.read(next(name for name in wheel.namelist() if name.endswith("METADATA"))).decode()
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    source, version = project["urls"]["Source"], project["version"]
    linked = re.findall(r"\]\(([^)]+)\)", described)

    assert len(linked) > 10
    assert [each for each in linked if not each.startswith(f"{source}/")] == []
    assert all(f"/v{version}/" in each for each in linked)
    assert "--8<--" not in described
    assert f"## {version}" in (_ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.spec("U-11")
def test_what_has_to_be_installed_is_told_by_the_name_of_the_distribution():
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    told = {
        found
        for each in _PACKAGE
        if each.endswith(".py")
        for found in re.findall(r"pip install '([\w-]+)\[([\w,]+)\]", (_ROOT / each).read_text("utf-8"))
    }

    assert len(told) > 5
    assert {name for name, _ in told} == {project["name"]}
    assert {extra for _, extras in told for extra in extras.split(",")} <= project["optional-dependencies"].keys()


@pytest.mark.spec("U-11")
def test_every_public_name_is_offered_though_it_is_loaded_when_it_is_asked_for():
    offered = {each for each in dir(langmem_plugin) if not each.startswith("_")}

    assert {"PhoneMemory", "MemoryState", "ConversationSaver", "resolve", "StoreUnavailable"} <= offered
    assert all(getattr(langmem_plugin, each) is not None for each in offered - {"TYPE_CHECKING"})
