"""What a GGUF file says of the model in it, read from its head without llama.cpp."""

import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from project.errors import CannotStart

MAGIC = b"GGUF"
VERSIONS = (2, 3)
STRING, ARRAY = 8, 9
NUMBERS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
LONGEST_TEXT = 64 * 2**20
MOST_FIELDS = 1_000_000
HALF_PRECISION = 2
PART = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$")


class _NotRead(Exception):
    """Raised with what is wrong with a file."""


@dataclass(frozen=True)
class Weights:
    """A model in a file: its size in bytes, and what a context of it takes.

    `context` is the length that it was trained with, in tokens; `token_bytes` is what each token of
    a context takes in memory.
    """

    path: Path
    size: int
    architecture: str
    context: int
    token_bytes: int


def read(path: Path) -> Weights:
    """Return what the file says; raises CannotStart with what to do for one that has no model."""
    try:
        size = sum(part.stat().st_size for part in _parts(path))
        with path.open("rb") as file:
            fields = _fields(file)
        return _weights(path, size, fields)
    except _NotRead as error:
        raise CannotStart(f"{path} {error}") from None
    except (EOFError, struct.error, UnicodeDecodeError):
        raise CannotStart(
            f"{path} breaks off in the middle: load it anew, for it is not whole."
        ) from None
    except OSError as error:
        raise CannotStart(f"{path} cannot be read: {error.strerror}.") from None


def _parts(path: Path) -> list[Path]:
    """Return the files of a model that lies in several."""
    found = PART.search(path.name)
    if found is None:
        return [path]
    count = int(found[2])
    names = [f"{path.name[: found.start()]}-{n:05}-of-{count:05}.gguf" for n in range(1, count + 1)]
    if path.name != names[0]:
        raise _NotRead(f"is a later part of a model: name the first one, {names[0]}.")
    parts = [path.with_name(name) for name in names]
    missing = next((part.name for part in parts if not part.is_file()), "")
    if missing:
        raise _NotRead(f"is one part of {count}, and {missing} is not beside it.")
    return parts


def _fields(file: BinaryIO) -> dict[str, Any]:
    if file.read(len(MAGIC)) != MAGIC:
        raise _NotRead("is no GGUF file: llama.cpp reads models in that form only.")
    version, _, count = struct.unpack("<IQQ", _exactly(file, 20))
    if version not in VERSIONS:
        raise _NotRead(f"is of a form of GGUF that is not known here (version {version}).")
    if count > MOST_FIELDS:
        raise EOFError
    return {_text(file): _value(file, _number(file, "I")) for _ in range(count)}


def _value(file: BinaryIO, kind: int) -> Any:
    """Return a field's value; of a list of texts, such as a vocabulary, nothing."""
    if kind == STRING:
        return _text(file)
    if kind != ARRAY:
        return _number(file, _form(kind))
    of, count = struct.unpack("<IQ", _exactly(file, 12))
    if of == STRING:
        for _ in range(count):
            file.seek(_length(file), 1)
        return None
    if of == ARRAY:
        raise _NotRead("has lists within lists in its head, which no model has.")
    form = f"<{_length_of(count)}{_form(of)}"
    return struct.unpack(form, _exactly(file, struct.calcsize(form)))


def _form(kind: int) -> str:
    if kind not in NUMBERS:
        raise EOFError
    return NUMBERS[kind]


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack(f"<{form}", _exactly(file, struct.calcsize(f"<{form}")))[0]


def _text(file: BinaryIO) -> str:
    return _exactly(file, _length(file)).decode()


def _length(file: BinaryIO) -> int:
    return _length_of(_number(file, "Q"))


def _length_of(count: int) -> int:
    if count > LONGEST_TEXT:
        raise EOFError
    return count


def _exactly(file: BinaryIO, count: int) -> bytes:
    read = file.read(count)
    if len(read) < count:
        raise EOFError
    return read


def _weights(path: Path, size: int, fields: dict[str, Any]) -> Weights:
    architecture = str(fields.get("general.architecture", ""))
    layers = fields.get(f"{architecture}.block_count")
    is_model = fields.get("general.type", "model") == "model"
    if not (is_model and isinstance(layers, int) and "tokenizer.ggml.model" in fields):
        kind = fields.get("general.type") or architecture or "something else"
        raise _NotRead(f"is no language model by itself but {kind}: name the file of the model.")
    context = fields.get(f"{architecture}.context_length", 0)
    return Weights(path, size, architecture, int(context), _token_bytes(fields, architecture))


def _token_bytes(fields: dict[str, Any], architecture: str) -> int:
    """Return what keys and values of one token take: of all layers, in half precision."""

    def said(name: str, default: Any = 0) -> Any:
        return fields.get(f"{architecture}.{name}", default)

    heads = said("attention.head_count")
    most = max(heads) if isinstance(heads, tuple) else heads
    of_a_head = said("embedding_length") // most if most else 0
    key = said("attention.key_length", of_a_head)
    value = said("attention.value_length", of_a_head)
    kept = said("attention.head_count_kv", heads)
    count = sum(kept) if isinstance(kept, tuple) else kept * said("block_count")
    return int(count * (key + value) * HALF_PRECISION)
