"""A sandbox is used only after it proved itself; without one, code is not run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.control import Control
from agents.errors import ConfigurationError
from agents.tools.sandbox import memory
from agents.tools.sandbox.bubblewrap import Bubblewrap
from agents.tools.sandbox.choice import Sandbox, find_sandbox, first_proved


class Leaky:
    """A sandbox that fails its own proof."""

    name = "leaky"
    provides = "Everything is there."

    def run(self, code: str, control: Control) -> Iterator[str]:
        yield code

    def prove(self) -> None:
        raise ConfigurationError("leaky is not tight here")


class Tight(Leaky):
    """A sandbox that proves itself."""

    name = "tight"

    def prove(self) -> None:
        return


def test_the_first_that_proves_itself_is_used() -> None:
    sandboxes: list[Sandbox] = [Leaky(), Tight()]

    found = first_proved(sandboxes)

    assert found.sandbox is sandboxes[1]
    assert found.reason == "leaky is not tight here"


@pytest.mark.parametrize(
    ("sandboxes", "reason"),
    [([Leaky()], "leaky is not tight here"), ([], "no sandbox is installed")],
)
def test_without_one_there_is_a_reason_instead(sandboxes: list[Sandbox], reason: str) -> None:
    found = first_proved(sandboxes)

    assert (found.sandbox, found.reason) == (None, reason)


def test_the_machine_is_tried_once() -> None:
    assert find_sandbox() is find_sandbox()


class Loose(Bubblewrap):
    """The real sandbox with its command loosened."""

    swaps: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def command(self, filtering: int) -> list[str]:
        changes = dict(self.swaps)
        return [word for old in super().command(filtering) for word in changes.get(old, (old,))]


SEPARATE = ("--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")


@pytest.mark.parametrize(
    ("swaps", "reason"),
    [
        ((("--proc", ("--ro-bind", "/etc", "/etc", "--proc")),), "host files"),
        ((("--unshare-all", SEPARATE),), "network"),
        ((("--clearenv", ("--clearenv", "--setenv", "API_KEY", "x")),), "environment API_KEY"),
        ((("--remount-ro", ("--dir",)),), "write /"),
        ((("--dev", ("--tmpfs", "/etc", "--dev")),), "write /etc"),
        ((("--unshare-all", ("--no-such-option",)),), "does not work here"),
        ((("--seccomp", ("--sync-fd",)),), "shared memory.*memory files.*system calls"),
        ((("/dev/full", ("/dev/zero",)),), "mapped zeroes"),
        (((str(64 * 1024 * 1024), ("40000000",)),), "does not bound files"),
    ],
)
def test_a_loosened_sandbox_is_found_out(
    bubblewrap: Bubblewrap, swaps: tuple[tuple[str, tuple[str, ...]], ...], reason: str
) -> None:
    loose = Loose(bubblewrap.python)
    loose.swaps = swaps

    with pytest.raises(ConfigurationError, match=reason):
        loose.prove()


def test_a_machine_that_does_not_show_its_processes_is_found_out(
    bubblewrap: Bubblewrap, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(memory, "_PROC", tmp_path)

    with pytest.raises(ConfigurationError, match="does not bound processes"):
        bubblewrap.prove()
