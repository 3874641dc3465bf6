"""Files in the form GGUF, written value by value."""

import struct
from pathlib import Path
from typing import Any

TINY = {
    "general.architecture": "llama",
    "general.type": "model",
    "llama.block_count": 30,
    "llama.context_length": 8192,
    "llama.embedding_length": 576,
    "llama.attention.head_count": 9,
    "llama.attention.head_count_kv": 3,
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.tokens": ["a", "bé", ""],
    "tokenizer.ggml.scores": (0.5, 1.5),
}
"""The head of SmolLM2-135M, but for its vocabulary."""


def write(path: Path, fields: dict[str, Any], weights: int = 1000, version: int = 3) -> Path:
    """Write a file with these fields in its head and so many bytes behind it."""
    head = b"GGUF" + struct.pack("<IQQ", version, 0, len(fields))
    path.write_bytes(head + b"".join(_text(k) + _value(v) for k, v in fields.items()))
    with path.open("ab") as file:
        file.write(bytes(weights))
    return path


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value: Any) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, list):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_text, value))
    if isinstance(value, tuple):
        kind, form = (6, "f") if isinstance(value[0], float) else (4, "I")
        return struct.pack(f"<IIQ{len(value)}{form}", 9, kind, len(value), *value)
    return struct.pack("<II", 4, value)
