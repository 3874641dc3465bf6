"""What a model says under every policy, so that all of its loop is gone through."""

import json
from typing import Any

Entry = str | dict[str, Any]
"""What a model says in one call: text, or an entry of a script."""


def node(kind: str, text: str) -> str:
    return json.dumps({"kind": kind, "text": text})


def goals(*descriptions: str) -> str:
    told = [{"description": text, "success_criteria": "seen"} for text in descriptions]
    return json.dumps({"phases": [{"name": "p", "goals": told}]})


def step(tool: str, **parameters: Any) -> str:
    return json.dumps({"thought": "t", "action": {"tool": tool, "parameters": parameters}})


def calls(*named: tuple[str, dict[str, Any] | str], say: str = "") -> dict[str, Any]:
    return {"say": say, "calls": [{"tool": tool, "inputs": inputs} for tool, inputs in named]}


SCRIPTS: dict[str, tuple[Entry, ...]] = {
    "explicit": (
        "first\nAction: search\nAction Input: q",
        "no format at all",
        "then\nAction: broken\nAction Input: x",
        "then\nAction: ghost\nAction Input: x",
        'then\nAction: add\nAction Input: {"left": 2, "right": 3}',
        "enough\nFinal Answer: two\n\nlines",
    ),
    "implicit": (
        node("THOUGHT", "first"),
        node("ACTION", "look it up"),
        "search",
        '{"query": "q"}',
        "no node at all",
        node("ACTION", "break it"),
        "broken",
        "no inputs",
        '{"text": "x"}',
        node("ACTION", "do the impossible"),
        "none",
        node("FINAL", "two\n\nlines"),
    ),
    "native": (
        calls(("search", {"query": "q"}), say="<think>so</think>I look it up."),
        "",
        calls(("broken", {"text": "x"})),
        calls(("ghost", {})),
        calls(("add", {"left": 2, "right": 3}), ("add", '{"left": 2, "ri')),
        "two\n\nlines",
    ),
    "plan_execute": (
        'Intent: i\nTool Calls: [{"toolName": "search"',
        "<think>so</think>\nIntent: i\nPlan: p\nTool Calls:\n```json\n"
        '[{"callId": "1", "toolName": "search", "arguments": {"query": "q"}},'
        ' {"callId": "2", "toolName": "broken", "arguments": {"text": "x"}},'
        ' {"callId": "3", "toolName": "ghost"},'
        ' {"callId": "4", "toolName": "add", "arguments": {"left": 2, "right": 3}}]\n```',
        "two\n\nlines",
    ),
    "planned": (
        goals("find", "add"),
        step("search", query="q"),
        "<think>so</think>" + step("broken", text="x").replace("}}", "},}"),
        "<thought>then</thought><action tool='ghost'/>",
        step("complete", result="found"),
        "no format at all",
        "Thought: then\nAction: add\nAction Input: {left: 2}",
        step("add", left=2, right=3),
        step("complete", result="two\n\nlines"),
    ),
    "reflexion": (
        "first\nAction: search\nAction Input: q",
        "no format at all",
        "then\nAction: broken\nAction Input: x",
        "<think>so</think>I broke it; I add instead.",
        "then\nAction: ghost\nAction Input: x",
        'then\nAction: add\nAction Input: {"left": 2, "right": 3}',
        "enough\nFinal Answer: two\n\nlines",
    ),
    "rewoo": (
        "Plan: use what is not there\n#E1 = search[#E7]",
        "<think>so</think>\nPlan: find\n#E1 = search[q]\nPlan: break\n**#E2** = broken[#E1]",
        'It broke.\n```\nPlan: add\n#E3 = add[{"left": 2, "right": 3}]\n'
        "Plan: say\n#E4 = LLM[Say #E3 of #E1]\n```",
        "five of ran q",
        "two\n\nlines",
    ),
    "self_repair": (
        'first\nAction: {"tool": "search", "inputs": {"query": "q", "zzz": 1}}',
        'then\nAction: {"tool": "add", "inputs": [1]}',
        'The inputs were a list.\nAction: {"tool": "ghost", "inputs": {}}',
        'No such tool.\nAction: {"tool": "broken", "inputs": {"text": "x"}}',
        'Try again.\nAction: {"tool": "broken", "inputs": {"text": "y"}}',
        'Action: {"tool": null}',
        '<think>so</think>on\n```json\nAction: {"tool": "add", "inputs": {"left": 2,}}',
        "enough, I think",
        "two\n\nlines",
    ),
}
LIMITS = {"answered": 9, "out of turns": 2}
CASES = [(policy, limit) for policy in SCRIPTS for limit in LIMITS]


def script(policy: str, limit: str) -> list[Entry]:
    """Return the policy's script; what comes after its last turn is the summary."""
    if limit == "answered":
        return list(SCRIPTS[policy])
    count = 4 if policy == "implicit" else 2
    return [*SCRIPTS[policy][:count], "the best I have"]


def recorded(entry: Entry) -> str:
    """Return what the record of a call has of an entry: its text, and behind it each call."""
    if isinstance(entry, str):
        return entry
    written = [f"\n{json.dumps(call)}\n" for call in entry["calls"]]
    return "".join([entry["say"], *written])


TELL: dict[str, list[Entry]] = {
    "explicit": ["s\nAction: send\nAction Input: x", "t\nFinal Answer: a"],
    "implicit": [node("ACTION", "tell"), "send", '{"text": "x"}', node("FINAL", "a")],
    "native": [calls(("send", {"text": "x"}), say="s"), "a"],
    "self_repair": [
        's\nAction: {"tool": "send", "inputs": {"text": "x"}}',
        "t\n<__final_answer__>a</__final_answer__>",
    ],
    "plan_execute": [
        'Tool Calls: [{"toolName": "send", "arguments": {"text": "x"}}]',
        "a",
    ],
    "reflexion": ["s\nAction: send\nAction Input: x", "t\nFinal Answer: a"],
    "rewoo": ["Plan: tell\n#E1 = send[x]", "Plan: answer directly", "a"],
    "planned": [goals("tell"), step("send", text="x"), step("complete", result="a")],
}
"""A run with one call that may not be made twice, by policy; its answer is `a`."""
