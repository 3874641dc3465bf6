"""What is said of a file before llama.cpp is asked to load it."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from project.errors import CannotStart
from project.local.model import gguf, named
from tests.unit.project.gguf_files import TINY, write


def refusal(path: Path) -> str:
    with pytest.raises(CannotStart) as refused:
        gguf.read(path)
    return str(refused.value)


def test_a_file_tells_its_size_its_context_and_what_a_token_takes(tmp_path: Path) -> None:
    path = write(tmp_path / "tiny.gguf", TINY, weights=5000)

    found = gguf.read(path)

    assert (found.architecture, found.context) == ("llama", 8192)
    assert found.size == path.stat().st_size
    assert found.token_bytes == 30 * 3 * (64 + 64) * 2


@pytest.mark.parametrize(
    ("other", "of_a_token"),
    [
        ({"llama.attention.key_length": 128, "llama.attention.value_length": 32}, 30 * 3 * 160 * 2),
        ({"llama.attention.head_count_kv": (3, 0, 9)}, 12 * 128 * 2),
        ({"llama.attention.head_count": 0, "llama.attention.head_count_kv": 0}, 0),
    ],
)
def test_what_a_token_takes_goes_by_the_heads_that_are_kept(
    tmp_path: Path, other: dict[str, Any], of_a_token: int
) -> None:
    assert gguf.read(write(tmp_path / "m.gguf", TINY | other)).token_bytes == of_a_token


def test_a_model_in_parts_is_as_large_as_all_of_them(tmp_path: Path) -> None:
    first = write(tmp_path / "big-00001-of-00002.gguf", TINY)
    second = write(tmp_path / "big-00002-of-00002.gguf", {"split.no": 1}, weights=7000)

    assert gguf.read(first).size == first.stat().st_size + second.stat().st_size
    assert "name the first one, big-00001-of-00002.gguf" in refusal(second)


def test_a_model_that_lacks_a_part_says_which(tmp_path: Path) -> None:
    first = write(tmp_path / "big-00001-of-00002.gguf", TINY)

    assert "big-00002-of-00002.gguf is not beside it" in refusal(first)


def test_what_is_no_gguf_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "notes.gguf"
    path.write_text("It is a text.")

    assert refusal(path).startswith(f"{path} is no GGUF file")


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"general.architecture": "clip"}, "clip"),
        ({"general.type": "adapter"}, "adapter"),
        ({}, ""),
    ],
)
def test_a_file_without_a_language_model_says_what_it_is(
    tmp_path: Path, fields: dict[str, Any], kind: str
) -> None:
    whole = TINY | fields if fields.get("general.type") else fields

    assert f"is no language model by itself but {kind}" in refusal(
        write(tmp_path / "m.gguf", whole)
    )


def test_a_form_that_is_not_known_is_named(tmp_path: Path) -> None:
    assert "(version 9)" in refusal(write(tmp_path / "m.gguf", TINY, version=9))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("models") / "whole.gguf", TINY, weights=0)


@given(st.data())
def test_a_file_that_breaks_off_anywhere_is_refused_in_words(whole: Path, data: Any) -> None:
    content = whole.read_bytes()
    path = whole.with_name("cut.gguf")
    path.write_bytes(content[: data.draw(st.integers(4, len(content) - 1))])

    assert "breaks off in the middle" in refusal(path)


@given(st.binary(max_size=300))
def test_garbage_behind_the_mark_is_refused_in_words(whole: Path, garbage: bytes) -> None:
    path = whole.with_name("garbage.gguf")
    path.write_bytes(b"GGUF" + garbage)

    assert refusal(path).startswith(str(path))


def test_the_model_that_comes_as_a_package_is_found(tmp_path: Path) -> None:
    found = gguf.read(named.file_of("smollm2", tmp_path))

    assert (found.architecture, found.context) == ("llama", 8192)
    assert named.name_of("smollm2", found.path) == "smollm2"


def test_a_path_is_found_from_the_folder_or_by_itself(tmp_path: Path) -> None:
    path = write(tmp_path / "Tiny-1B.Q4.gguf", TINY)

    assert named.file_of("Tiny-1B.Q4.gguf", tmp_path) == path
    assert named.file_of(str(path), Path("/")) == path
    assert named.name_of(str(path), path) == "Tiny-1B.Q4"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("gpt-9", "MODEL=gpt-9 is not known here: take smollm2, or the path of a GGUF file."),
        ("models/none.gguf", "MODEL=models/none.gguf: there is no file"),
        (".", "MODEL=. is a folder: name the file in it"),
    ],
)
def test_a_name_without_a_file_is_refused_in_words(tmp_path: Path, model: str, said: str) -> None:
    with pytest.raises(CannotStart) as refused:
        named.file_of(model, tmp_path)

    assert str(refused.value).startswith(said)
