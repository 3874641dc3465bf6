"""The document, the page's fold and the code know the same messages, with the same fields."""

import json
import re
from pathlib import Path
from typing import Any, get_args, get_type_hints

from chat.live.client_frames import ClientFrame
from chat.stream.channel import DELTAS
from chat.stream.server_events import Delta, Event, ServerFrame

Fields = dict[str, frozenset[str]]

ROOT = Path(__file__).resolve().parents[4]
DOCUMENT = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
FOLD = (ROOT / "static" / "js" / "live" / "run_state.js").read_text(encoding="utf-8")
STEPS = FOLD[FOLD.index("const STEPS = {") :]


def declared(union: Any) -> Fields:
    """Return the fields of each type in a union of messages, without `type` itself."""
    fields: Fields = {}
    for kind in get_args(union):
        hints = get_type_hints(kind)
        for name in get_args(hints["type"]):
            assert name not in fields, f"{name} is declared twice"
            fields[name] = frozenset(hints) - {"type", "model_config"}
    return fields


def section(title: str) -> str:
    return DOCUMENT.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def shown_in(text: str) -> Fields:
    """Return the fields of each message that stands in the text as JSON, in all its examples."""
    fields: Fields = {}
    for example in re.findall(r"`(\{\"type\".*?\})`", text):
        message = json.loads(example.replace("[…]", "[]"))
        name = message.pop("type")
        fields[name] = fields.get(name, frozenset()) | frozenset(message)
    return fields


def listed() -> Fields:
    """Return the fields of each event in the document's table."""
    rows = re.findall(r"^\| `([a-z.]+)(?: \{([^}]*)\})?` \|", section("Events"), re.MULTILINE)
    return {name: frozenset(fields.replace(",", " ").split()) for name, fields in rows}


def folded() -> Fields:
    """Return the fields of each event that the page reads."""
    steps = re.findall(r'^  "([a-z.]+)": \((?:\w+(?:, \{([^}]*)\})?)?\)', STEPS, re.MULTILINE)
    return {name: frozenset(fields.replace(",", " ").split()) for name, fields in steps}


def test_the_document_lists_every_event_with_its_fields() -> None:
    assert listed() == declared(Event)


def test_the_document_shows_every_frame_of_the_server_with_its_fields() -> None:
    shown = shown_in(section("The server to the page") + section("Without a WebSocket"))

    assert shown == declared(ServerFrame)


def test_the_document_shows_every_frame_of_the_page_with_its_fields() -> None:
    said = section("The page to the server")
    table = said.replace('With `"answer":true`', '`{"type":"ping","answer":true}`')

    assert shown_in(table) == declared(ClientFrame)


def test_the_page_folds_every_event_and_reads_no_field_that_it_lacks() -> None:
    events, read = declared(Event), folded()

    assert read.keys() == events.keys()
    unknown = {name: fields - events[name] for name, fields in read.items()}
    assert not any(unknown.values()), unknown


def test_the_page_knows_no_frame_that_nobody_sends() -> None:
    names = set(re.findall(r'frame\.type === "([a-z.]+)"', FOLD))

    assert names
    assert names <= declared(ServerFrame).keys()


def test_what_is_joined_on_its_way_is_every_delta() -> None:
    assert declared(Delta).keys() == DELTAS
