"""What compose file and Dockerfile ask of mnemolog exists: commands, settings, paths, doors.

Neither is run here, where there is no engine: what can be held against the code is.
"""

import ipaddress
import re
import shlex
from pathlib import Path

import pytest
import typer.main
import yaml

from mnemolog.cli.main import app
from mnemolog.settings import KNOWN

TOP = Path(__file__).parents[1]
COMPOSE = yaml.safe_load((TOP / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]
OURS = [name for name, service in SERVICES.items() if service["image"] == "mnemolog"]
DOCKERFILE = (TOP / "Dockerfile").read_text(encoding="utf-8")
HEAD = re.match(r"(#.*\n)+", (TOP / "docker-compose.yml").read_text(encoding="utf-8"))[0]


def parsed(arguments):
    """Let the command line read *arguments* without running what they name; raise if it can't."""
    command, rest = typer.main.get_command(app), list(arguments)
    while rest and rest[0] in getattr(command, "commands", {}):
        command = command.commands[rest.pop(0)]
    command.make_context("mnemolog", rest)
    is_done = not rest or rest[0].startswith("-") or not hasattr(command, "commands")
    assert is_done, f"no such command: {rest[0]}"


@pytest.mark.parametrize("wrong", [["werker"], ["worker", "--replika"], ["serve", "keys", "add"]])
def test_what_the_command_line_does_not_know_would_be_found(wrong):
    with pytest.raises(Exception, match=r"(?i)no such|missing|unexpected"):
        parsed(wrong)


def test_worker_replica_and_service_stand_beside_the_broker():
    assert set(SERVICES) == {"kafka", *OURS}
    assert OURS == ["worker", "replica", "service"]


@pytest.mark.parametrize("name", OURS)
def test_its_command_and_its_variables_are_ours(name):
    service = SERVICES[name]
    parsed(service["command"])
    variables = {variable for variable, _, _ in KNOWN.values()}
    assert set(service["environment"]) <= variables


@pytest.mark.parametrize("name", SERVICES)
def test_each_has_a_health_check_bounds_a_volume_of_its_own_and_time_to_stop(name):
    service = SERVICES[name]
    assert service["healthcheck"]["test"][0] == "CMD"
    assert {"mem_limit", "cpus", "pids_limit", "stop_grace_period"} <= set(service)
    (volume,) = service["volumes"]
    source = volume.partition(":")[0]
    assert source in COMPOSE["volumes"]
    assert [source in str(other["volumes"]) for other in SERVICES.values()].count(True) == 1
    assert service["logging"]["options"]["max-size"]


@pytest.mark.parametrize("name", SERVICES)
def test_what_is_published_is_published_on_loopback(name):
    for port in SERVICES[name].get("ports", []):
        assert ipaddress.ip_address(port.split(":")[0]).is_loopback


@pytest.mark.parametrize("name", OURS)
def test_ours_may_write_to_its_volume_and_to_tmp_alone(name):
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["volumes"][0].endswith(f":{service['environment']['MNEMOLOG_DATA']}")
    assert "USER" not in service  # the image's own


def test_the_commands_that_the_compose_file_tells_are_ours():
    told = re.findall(r"run --rm service (.+)", HEAD)
    assert told
    for line in told:
        parsed(shlex.split(line))


def test_the_image_runs_ours_as_a_plain_user():
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    assert re.search(r"^USER mnemolog$", last, re.MULTILINE)
    assert re.search(r"useradd .*--uid 10001 ", last)
    assert 'ENTRYPOINT ["mnemolog"]' in last
    assert "MNEMOLOG_DATA=/data" in last
    assert re.search(r"^VOLUME /data$", last, re.MULTILINE)


def test_the_image_is_built_from_what_the_distribution_is_built_from():
    kept = {
        line[1:]
        for line in (TOP / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line.startswith("!")
    }
    assert {"pyproject.toml", "README.md", "LICENSE"} <= kept
    pyproject = (TOP / "pyproject.toml").read_text(encoding="utf-8")
    homes = re.findall(r'^"?mnemolog(?:\.\w+)?"? = "([\w/]+)"', pyproject, re.MULTILINE)
    assert {home.partition("/")[0] for home in homes} | {
        "LICENSE",
        "README.md",
        "pyproject.toml",
    } == kept
