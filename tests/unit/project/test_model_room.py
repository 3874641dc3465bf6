"""How much of the machine a model gets."""

import os
from pathlib import Path

import pytest

from project.errors import CannotStart
from project.local.model.gguf import Weights
from project.local.model.room import WORK_BYTES, Room, free_memory, room_for
from project.local.model.server import ModelServer

GIGABYTE = 10**9
WEIGHTS = Weights(Path("m.gguf"), GIGABYTE, "llama", 32_768, 100_000)


def server(room: Room) -> ModelServer:
    return ModelServer("tiny", Path("tiny.gguf"), 8123, room, Path("model.log"))


def test_a_slot_for_each_core_and_no_more_than_eight() -> None:
    assert [room_for(WEIGHTS, 10**12, cores).slots for cores in (1, 2, 64)] == [1, 2, 8]


def test_contexts_become_short_before_slots_become_few() -> None:
    rooms = [
        room_for(WEIGHTS, GIGABYTE + WORK_BYTES + more, 4)
        for more in (7 * GIGABYTE, 2 * GIGABYTE, GIGABYTE, GIGABYTE // 2)
    ]

    assert rooms == [Room(4, 16_384), Room(4, 4_096), Room(4, 2_048), Room(2, 2_048)]


def test_a_context_is_no_longer_than_the_model_was_trained_with() -> None:
    lengths = [
        room_for(Weights(Path("m"), 1, "llama", trained, 1), 10**12, 1).context
        for trained in (0, 1_024, 5_000, 8_192)
    ]

    assert lengths == [16_384, 1_024, 4_096, 8_192]


def test_a_model_that_does_not_fit_is_refused_with_both_sizes() -> None:
    with pytest.raises(CannotStart, match=r"m.gguf does not fit .* needs 1\.6 GB, and 1\.0 GB"):
        room_for(WEIGHTS, GIGABYTE, 2)


def test_the_memory_of_a_container_is_its_own(tmp_path: Path) -> None:
    for name, text in (("max", "5000000"), ("current", "3000000"), ("stat", "inactive_file 1000")):
        (tmp_path / f"memory.{name}").write_text(text)

    assert free_memory(tmp_path) == 2_001_000
    (tmp_path / "memory.max").write_text("max")
    assert free_memory(tmp_path) > 2_001_000
    assert free_memory(tmp_path / "nowhere") > 2_001_000


def test_the_product_uses_as_many_slots_as_there_are_or_fewer_where_that_is_said() -> None:
    made = server(Room(4, 2_048))
    said: tuple[dict[str, str], ...] = (
        {},
        {"TURNSTONE_LOCAL_LIMIT": "2"},
        {"TURNSTONE_LOCAL_LIMIT": "0"},
    )

    assert [made.settings(one)["TURNSTONE_LOCAL_LIMIT"] for one in said] == ["4", "2", "4"]


def test_the_key_is_the_servers_own_and_not_in_its_command() -> None:
    first, second = server(Room(1, 2_048)), server(Room(1, 2_048))

    assert first.key != second.key
    assert first.key not in " ".join(first.program().command) + repr(first)
    assert first.key not in os.environ.values()
