"""The form by which a version is edited: a draft read from what was typed, and shown again."""

import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.http import QueryDict

from agents.policies import POLICIES
from agents.policies.makeup import roles
from agents.policies.spec import Limits, ModelRole
from agents.policies.with_goal import SETTING
from chat.models import PolicyVersion
from chat.publishing.check import known_providers
from chat.publishing.knobs import Knob, knobs, written
from chat.publishing.tools import OfferedTool, tools_to_choose

ZONE = "time_zone"
_IN_WORDS = {"true": "yes", "false": "no"}
_CHOSEN = ("temperature", "max_tokens")


class Base(NamedTuple):
    """A policy of the registry, and what it is in its author's words."""

    name: str
    explained: str


class Group(NamedTuple):
    """The knobs of one model; `role` is empty for that of all roles."""

    role: str
    knobs: list[Knob]

    @property
    def is_open(self) -> bool:
        """Tell whether something of it is chosen, or wrong."""
        return any(knob.text or knob.error for knob in self.knobs)


class Draft:
    """What a version would be: its words for people, and its content."""

    def __init__(self, words: Mapping[str, str], content: Mapping[str, Any]) -> None:
        self.words = {name: words.get(name, "") for name in ("slug", "name", "description")}
        self.content = dict(content)
        self.problems: dict[str, str] = {}

    @classmethod
    def of(cls, version: PolicyVersion) -> "Draft":
        """Begin with a version as it is."""
        policy = version.policy
        words = {"slug": policy.slug, "name": policy.name, "description": policy.description}
        return cls(words, version.content)

    @classmethod
    def typed(cls, sent: QueryDict, begun: "Draft") -> "Draft":
        """Read what was sent; what no field shows stays as it was begun with."""
        texts = {name: str(value).replace("\r\n", "\n") for name, value in sent.items()}
        base = texts.get("policy", "")
        content = begun.content | {"policy": base, "instructions": texts.get("instructions", "")}
        more = texts.get("more_tools", "").split()
        content["tools"] = list(dict.fromkeys([*sent.getlist("tools"), *more]))
        content["approve"] = texts.get("approve", "").split()
        content["limits"] = _read(knobs(Limits, "limits", {}, {}), texts)
        content["settings"] = _settings(base, texts)
        content["model"] = _model("model", texts, dict(begun.content.get("model") or {}))
        content["models"] = _models(texts, begun)
        return cls(texts, content)

    @property
    def base(self) -> str:
        """Return the name of the policy that it is a version of."""
        return str(self.content.get("policy", ""))

    @property
    def bases(self) -> list[Base]:
        """Return the policies that there are."""
        return [Base(name, _in_a_line(declared.compose)) for name, declared in POLICIES.items()]

    @property
    def explained(self) -> str:
        """Say what the policy is."""
        return next((base.explained for base in self.bases if base.name == self.base), "")

    @property
    def instructions(self) -> str:
        """Return the instructions."""
        return str(self.content.get("instructions", ""))

    @property
    def tools(self) -> list[OfferedTool]:
        """Return the tools that may be chosen."""
        return tools_to_choose(self.content.get("tools") or ())

    @property
    def more_tools(self) -> str:
        """Return the tools that are of no box: single ones of MCP servers, and unknown names."""
        boxes = {tool.name for tool in self.tools}
        return "\n".join(one for one in self.content.get("tools") or () if one not in boxes)

    @property
    def approve(self) -> str:
        """Return the names that a person is asked about."""
        return "\n".join(self.content.get("approve") or ())

    @property
    def limits(self) -> list[Knob]:
        """Return the knobs of the limits."""
        return knobs(Limits, "limits", self.content.get("limits") or {}, self.problems)

    @property
    def settings(self) -> list[Knob]:
        """Return the policy's own knobs, and those that all policies have."""
        own: dict[str, Any] = dict(self.content.get("settings") or {})
        settled = own.pop(SETTING, False)
        base = POLICIES.get(self.base)
        found = knobs(base.settings, "settings", own, self.problems) if base is not None else []
        zone = settled.get(ZONE, "") if isinstance(settled, Mapping) else ""
        place = f"settings.{SETTING}"
        problem = next((what for at, what in self.problems.items() if at.startswith(place)), "")
        return [
            *found,
            Knob(
                *(place, "Settle goal", "flag"),
                "Settle first what is meant by such words as “do it again”; ask back where nobody "
                "can know.",
                written(bool(settled)),
            ),
            Knob(
                *(f"{place}.{ZONE}", "Time zone", "text"),
                "The asker's, where the goal is settled, such as Europe/Paris; UTC without.",
                written(zone),
                error=problem,
            ),
        ]

    @property
    def model(self) -> Group:
        """Return the knobs of the model."""
        return Group("", self._choice("model", self.content.get("model") or {}, known_providers()))

    @property
    def models(self) -> list[Group]:
        """Return the knobs of each role that the policy asks a model in, or names one for."""
        told = self.content.get("models") or {}
        used = roles(self.base) if self.base in POLICIES else ()
        providers = ("", *known_providers())
        return [
            Group(role, self._choice(f"models.{role}", told.get(role) or {}, providers))
            for role in ModelRole
            if role in used or role in told
        ]

    @property
    def told(self) -> list[tuple[str, str]]:
        """Return what the knobs say, each with its label; those that say nothing are left out."""
        found = [(knob.label, knob.text) for knob in self.model.knobs]
        for group in self.models:
            found += [(f"{knob.label} to {group.role}", knob.text) for knob in group.knobs]
        found += [(knob.label, knob.text or "no limit") for knob in self.limits]
        found += [(knob.label, _IN_WORDS.get(knob.text, knob.text)) for knob in self.settings]
        return [(label, text) for label, text in found if text]

    def _choice(
        self, under: str, told: Mapping[str, Any], providers: tuple[str, ...]
    ) -> list[Knob]:
        def knob(name: str, kind: Any, label: str, explained: str, **more: Any) -> Knob:
            place = f"{under}.{name}"
            error = self.problems.get(place, "")
            text = written(told.get(name))
            return Knob(place, label, kind, explained, text, error=error, **more)

        named = told.get("provider", "")
        known = providers if named in providers else (*providers, str(named))
        return [
            knob("provider", "choice", "Provider", "auto: what is found here.", choices=known),
            knob("model", "text", "Model", "Its server's own default without."),
            knob("base_url", "text", "Address", "The provider's own without."),
            knob("temperature", "number", "Temperature", "The server's own without.", least=0),
            knob(*("max_tokens", "number", "Max tokens", "Of one reply."), least=1, is_whole=True),
        ]


def _read(fields: list[Knob], texts: Mapping[str, str]) -> dict[str, Any]:
    """Return what was typed by names; what was left empty takes its default."""
    found = {knob.place.rpartition(".")[2]: knob.read(texts.get(knob.place, "")) for knob in fields}
    return {name: value for name, value in found.items() if value is not None}


def _settings(base: str, texts: Mapping[str, str]) -> dict[str, Any]:
    declared = POLICIES.get(base)
    shown = knobs(declared.settings, "settings", {}, {}) if declared is not None else []
    # Of a policy that was only just chosen no knob was on the page: its defaults hold.
    if texts.get("knobs_of") != base:
        found = _read(shown, {knob.place: knob.text for knob in shown})
    else:
        found = _read(shown, texts)
    if texts.get(f"settings.{SETTING}") == "true":
        zone = texts.get(f"settings.{SETTING}.{ZONE}", "").strip()
        found[SETTING] = {ZONE: zone} if zone else True
    return found


def _model(under: str, texts: Mapping[str, str], begun: dict[str, Any]) -> dict[str, Any]:
    names = ("provider", "model", "base_url")
    told: dict[str, Any] = {name: texts.get(f"{under}.{name}", "").strip() for name in names}
    for name in _CHOSEN:
        kind = Knob(f"{under}.{name}", name, "number")
        told[name] = kind.read(texts.get(kind.place, ""))
    is_same = all(begun.get(name, "") == told[name] for name in names)
    # A script and a price are of the model that they were said of.
    return (begun if is_same else {}) | told


def _models(texts: Mapping[str, str], begun: Draft) -> dict[str, Any]:
    told = begun.content.get("models") or {}
    found = {}
    for role in ModelRole:
        model = _model(f"models.{role}", texts, dict(told.get(role) or {}))
        if model["provider"] or model["model"] or model["base_url"]:
            found[str(role)] = model | {"provider": model["provider"] or "auto"}
    return found


def _in_a_line(compose: Any) -> str:
    words = sys.modules[compose.__module__].__doc__ or compose.__doc__ or ""
    return words.strip().split("\n")[0]
