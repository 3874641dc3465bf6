"""What an extension brings: one object, which its module calls `extension`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agents.policies.declared import Declared
from agents.policies.spec import PolicySpec
from agents.providers.brought import MakeProvider
from agents.tools.catalogue import MakeTools
from agents.tools.spec import Tool


@dataclass(frozen=True)
class Offer:
    """A policy that people choose in the page: its words, and the version that is published.

    `slug` is letters, digits and `_`; the page's address of it begins with the extension's name.
    """

    slug: str
    name: str
    description: str
    spec: PolicySpec


@dataclass(frozen=True)
class Extension:
    """Tools, policies, providers and offers under one name; a part is brought by its policy.

    A tool goes by its own name. A toolset is made for each run under its name, with which the names
    of its tools begin (`shelf`, `shelf_open`); what a tool holds from call to call it lets go of in
    `release`. A provider is made for each run, of the choice in the version and the environment of
    models, by the name that it says of itself.
    """

    name: str
    tools: Sequence[Tool] = ()
    toolsets: Mapping[str, MakeTools] = field(default_factory=dict)
    policies: Sequence[Declared] = ()
    providers: Mapping[str, MakeProvider] = field(default_factory=dict)
    offers: Sequence[Offer] = ()

    def __str__(self) -> str:
        """Say what it brings, in one line."""
        kinds = {
            "tools": [*(tool.name for tool in self.tools), *self.toolsets],
            "policies": [policy.name for policy in self.policies],
            "providers": [*self.providers],
            "offers": [offer.slug for offer in self.offers],
        }
        told = [f"{kind} {', '.join(names)}" for kind, names in kinds.items() if names]
        return f"{self.name}: {'; '.join(told) or 'nothing'}"
