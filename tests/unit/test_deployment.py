"""The files that a deployment copies: what they name exists, and nothing runs as root.

No container engine is at hand here, so nothing is built; `test_the_image` runs what can be run.
"""

from __future__ import annotations

import fnmatch
import json
import re
import shlex
from configparser import RawConfigParser
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from recollect.cli.app import run
from recollect.settings import Settings

_ROOT: Final = Path(__file__).parents[2]
_ENGINE_VARIABLES: Final = {"PATH", "HOME", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}


def _instructions(dockerfile: str) -> list[tuple[str, str]]:
    joined = re.sub(r"\\\n", " ", re.sub(r"^\s*#.*\n", "", dockerfile, flags=re.MULTILINE))
    return [
        (word.upper(), rest.strip())
        for word, _, rest in (line.partition(" ") for line in joined.splitlines() if line.strip())
    ]


_IMAGE: Final = _instructions((_ROOT / "Dockerfile").read_text("utf-8"))


def _values(word: str) -> list[str]:
    return [rest for name, rest in _IMAGE if name == word]


def _require_settings(names: set[str]) -> None:
    """Fail for a variable that names no setting."""
    for name in names:
        if not name.startswith("RECOLLECT_"):
            continue
        section: Any = Settings()
        for part in name.removeprefix("RECOLLECT_").lower().split("__"):
            assert hasattr(section, part), name
            section = getattr(section, part)


def _require_command(words: list[str]) -> None:
    """Fail for a command or an option that `recollect` does not have."""
    assert run([*words, "--help"]) == 0, words


def test_the_image_is_made_of_pinned_parts_and_runs_as_nobody_special() -> None:
    froms = _values("FROM")
    assert len(froms) == 2
    for image in froms:
        tag = image.split()[0].rpartition(":")[2]
        assert re.fullmatch(r"\d+\.\d+-slim-\w+", tag), image
    assert not _values("ADD")
    (user,) = _values("USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    words = [word for word, _ in _IMAGE]
    assert words.index("USER") < words.index("ENTRYPOINT") < words.index("CMD")
    (check,) = _values("HEALTHCHECK")
    assert "/health" in check
    assert not any("sudo" in run or "curl" in run for run in _values("RUN"))
    assert all("--no-cache-dir" in run for run in _values("RUN") if "pip install" in run)


def test_the_image_runs_a_command_that_exists_with_settings_that_exist() -> None:
    (entry,), (arguments,) = _values("ENTRYPOINT"), _values("CMD")
    assert json.loads(entry) == ["recollect"]
    _require_command(json.loads(arguments))
    names = {word.partition("=")[0] for env in _values("ENV") for word in shlex.split(env)}
    _require_settings(names)
    assert names - _ENGINE_VARIABLES == {"RECOLLECT_DATA_DIR"}


def test_what_the_image_copies_is_there_and_sent_to_the_engine() -> None:
    ignored = [
        line for line in (_ROOT / ".dockerignore").read_text().splitlines() if line[:1] not in "#"
    ]
    sent = [line[1:] for line in ignored if line.startswith("!")]
    assert ignored[0] == "*"
    for copied in _values("COPY"):
        words = copied.split()
        if words[0].startswith("--from="):
            assert words[0] == "--from=build"
            continue
        for name in words[:-1]:
            assert (_ROOT / name).exists(), name
            assert any(fnmatch.fnmatch(name, one) for one in sent), name
    extras = re.search(r'"\.\[([\w,-]+)\]"', " ".join(_values("RUN")))
    assert extras is not None
    declared = (_ROOT / "pyproject.toml").read_text("utf-8")
    for extra in extras[1].split(","):
        assert re.search(rf"^{extra} = \[", declared, re.MULTILINE), extra


def test_the_services_of_a_team_fit_together() -> None:
    made = yaml.safe_load((_ROOT / "compose.yaml").read_text("utf-8"))
    services: dict[str, Any] = made["services"]
    asked: set[str] = set()
    for name, service in services.items():
        text = json.dumps(service)
        asked |= set(re.findall(r"\$\{(\w+)", text))
        if "image" in service and service["image"] != "recollect:latest":
            assert re.search(r":v?\d", service["image"]), f"{name} has no version"
        for other in service.get("depends_on", {}):
            condition = service["depends_on"][other]["condition"]
            has_check = "healthcheck" in services[other] or other == "recollect"
            assert condition != "service_healthy" or has_check, other
        for network in service["networks"]:
            assert network in made["networks"]
        for volume in service.get("volumes", []):
            if isinstance(volume, str) and volume.startswith("./"):
                assert (_ROOT / volume.partition(":")[0]).is_file(), volume
            elif isinstance(volume, str):
                assert volume.partition(":")[0] in made["volumes"]
    example = (_ROOT / "deploy" / "compose.env.example").read_text("utf-8")
    assert asked == set(re.findall(r"^(\w+)=", example, re.MULTILINE))
    ours = services["recollect"]
    _require_settings(set(ours["environment"]))
    assert ours["deploy"]["replicas"] == 2
    assert ours["read_only"] is True
    assert ours["cap_drop"] == ["ALL"]
    # The database is reached from inside only.
    assert made["networks"]["inside"]["internal"] is True
    assert all("ports" not in service for name, service in services.items() if name != "proxy")
    assert not re.search(r"PASSWORD: *\w", (_ROOT / "compose.yaml").read_text("utf-8"))
    # A host is the name of a service.
    for value in ours["environment"].values():
        if (host := re.search(r"(?:@|//)([a-z]+)(?::\d+)?(?:/|$)", str(value))) and "://" in value:
            assert host[1] in {*services, "recollect"}, value
    proxied = (_ROOT / "deploy" / "Caddyfile").read_text("utf-8")
    assert "name recollect" in proxied
    assert proxied.count("{") == proxied.count("}")


def test_the_cluster_runs_what_the_image_has() -> None:
    text = (_ROOT / "deploy" / "kubernetes.yaml").read_text("utf-8")
    by_kind: dict[str, list[Any]] = {}
    for made in yaml.safe_load_all(text):
        by_kind.setdefault(made["kind"], []).append(made)
    assert set(by_kind) == {"Service", "StatefulSet", "PodDisruptionBudget"}
    (cluster,) = by_kind["StatefulSet"]
    labels = cluster["spec"]["template"]["metadata"]["labels"]
    assert cluster["spec"]["selector"]["matchLabels"] == labels
    assert all(service["spec"]["selector"] == labels for service in by_kind["Service"])
    names = {service["metadata"]["name"] for service in by_kind["Service"]}
    assert cluster["spec"]["serviceName"] in names
    pod = cluster["spec"]["template"]["spec"]
    (user,) = _values("USER")
    assert f"{pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}" == user
    (container,) = pod["containers"]
    _require_command(container["args"])
    _require_settings({variable["name"] for variable in container["env"]})
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    (port,) = container["ports"]
    assert [str(port["containerPort"])] == _values("EXPOSE")
    volumes = {it["name"] for it in pod["volumes"]}
    volumes |= {it["metadata"]["name"] for it in cluster["spec"]["volumeClaimTemplates"]}
    assert {it["name"] for it in container["volumeMounts"]} == volumes


def test_the_unit_runs_a_command_that_exists() -> None:
    unit = RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(_ROOT / "deploy" / "recollect.service", encoding="utf-8")
    program, *words = shlex.split(unit["Service"]["ExecStart"])
    assert Path(program).name == "recollect"
    _require_command(words)
    given = shlex.split(unit["Service"]["Environment"])
    _require_settings({word.partition("=")[0] for word in given})
    assert unit["Service"]["DynamicUser"] == "yes"
    assert unit["Service"]["ProtectSystem"] == "strict"


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml", "deploy/kubernetes.yaml"])
def test_nothing_of_this_machine_is_in_them(name: str) -> None:
    assert not re.search(r"/work\b|/root\b", (_ROOT / name).read_text("utf-8"))
