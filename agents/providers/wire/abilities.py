"""How servers say what a model can: OpenAI-compatible lists, llama.cpp's props, Ollama's show.

Each reads what is there and passes over what is not; no answer is trusted to have a form.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agents.providers.abilities import UNKNOWN, Abilities

Ask = Callable[..., Any]
"""Get a URL, or post it an object of JSON, and return the JSON of the answer; None for none."""

MOST_TOKENS = 100_000_000
"""A length that is longer is no length."""
OLLAMA_MOST = 16_384
"""What a model of Ollama gets that names no `num_ctx`: its memory grows with it."""

_LENGTHS = (
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
)
_LLAMA = "llamacpp"


def of_list(ask: Ask, base_url: str, model: str) -> Abilities:
    """Ask an OpenAI-compatible server at its `/models`; llama.cpp then says the rest by `/props`.

    What a llama.cpp server takes is what its slots have, not what the model was trained with.
    """
    listed = _list(_fields(ask(f"{base_url}/models")).get("data"))
    entries = [_fields(one) for one in listed]
    entry = next((one for one in entries if one.get("id") == model), {})
    meta = _fields(entry.get("meta"))
    if entry.get("owned_by") == _LLAMA or "n_ctx_train" in meta:
        props = of_props(_fields(ask(f"{base_url.removesuffix('/v1')}/props")))
        trained = _count(meta.get("n_ctx_train"))
        return (
            props if props.context_length else props.model_copy(update={"context_length": trained})
        )
    return of_listed(entry)


def of_listed(entry: Mapping[str, Any]) -> Abilities:
    """Read an entry of a list of models as vLLM, OpenRouter, Groq and Mistral write it."""
    parameters = _names(entry.get("supported_parameters"))
    modalities = _names(_fields(entry.get("architecture")).get("input_modalities"))
    told = _fields(entry.get("capabilities"))
    return Abilities(
        context_length=next(filter(None, (_count(entry.get(name)) for name in _LENGTHS)), None),
        tools="tools" in parameters if parameters else _flag(told.get("function_calling")),
        vision="image" in modalities if modalities else _flag(told.get("vision")),
        thinking="reasoning" in parameters if parameters else _flag(told.get("reasoning")),
    )


def of_props(props: Mapping[str, Any]) -> Abilities:
    """Read what llama.cpp says of itself."""
    slot = _fields(props.get("default_generation_settings"))
    template = _fields(props.get("chat_template_caps"))
    return Abilities(
        context_length=_count(slot.get("n_ctx")) or _count(props.get("n_ctx")),
        tools=_flag(template.get("supports_tools")),
        vision=_flag(_fields(props.get("modalities")).get("vision")),
    )


def of_show(ask: Ask, base_url: str, model: str) -> Abilities:
    """Ask Ollama to show a model: its `num_ctx`, else what it was trained with, up to OLLAMA_MOST.

    So many tokens are to be asked for as `num_ctx`: without it Ollama cuts a long request unsaid.
    """
    shown = _fields(ask(f"{base_url}/api/show", {"model": model}))
    info = _fields(shown.get("model_info"))
    trained = (_count(n) for name, n in info.items() if str(name).endswith(".context_length"))
    told = _names(shown.get("capabilities"))
    return Abilities(
        context_length=_parameter(shown, "num_ctx")
        or next((min(count, OLLAMA_MOST) for count in trained if count), None),
        tools="tools" in told if told else None,
        vision="vision" in told if told else None,
        thinking="thinking" in told if told else None,
    )


def of_entry(ask: Ask, url: str) -> Abilities:
    """Ask Gemini for one model."""
    found = _fields(ask(url))
    return Abilities(
        context_length=_count(found.get("inputTokenLimit")), thinking=_flag(found.get("thinking"))
    )


def is_known(abilities: Abilities) -> bool:
    """Tell whether a server has said anything."""
    return abilities != UNKNOWN


def _parameter(shown: Mapping[str, Any], name: str) -> int | None:
    """Return a number of Ollama's parameters, which are lines of a name and a value."""
    lines = (line.split() for line in str(shown.get("parameters") or "").splitlines())
    found: Iterator[str] = (line[1] for line in lines if len(line) == 2 and line[0] == name)
    return _count(next(found, None))


def _fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _names(value: Any) -> list[str]:
    return [one for one in _list(value) if isinstance(one, str)]


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _count(value: Any) -> int | None:
    """Return a number of tokens, also from its digits; None for what is none."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
        value = int(value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return int(value) if is_number and 0 < value <= MOST_TOKENS else None
