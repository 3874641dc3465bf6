"""The policies that every installation begins with, published when the database is migrated."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.apps.registry import Apps
from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

from agents.policies import implicit, native, planned, reflexion, rewoo, self_repair
from agents.policies.spec import Limits, PolicySpec
from chat.extensions import extensions
from chat.models import Origin, Policy, PolicyVersion

TOOLS = ("calculator", "convert_units", "current_time", "python_repl", "search_transcripts")
ASK = "ask_user"
NETWORK_TOOLS = ("web_search", "wikipedia", "arxiv", "http_get")
"""What each policy has besides where the administrator lets it reach out to the internet."""


class _Seed(NamedTuple):
    name: str
    description: str
    spec: PolicySpec


ASKED_ABOUT = ("python_*", "web_*", "wikipedia_*", "arxiv_*", "http_*")
"""What the careful policy asks about: code, and all that reaches out."""

_SEEDS = {
    "careful": _Seed(
        "Careful ReAct",
        "Explicit ReAct that asks you before it runs any code or reaches out to the internet, and "
        "shows exactly what it would do. You allow it once or refuse, and may say what to do "
        "instead; without an answer in time it does not run.",
        PolicySpec(
            policy="explicit",
            tools=(*TOOLS, ASK),
            limits=Limits(max_turns=10),
            approve=ASKED_ABOUT,
        ),
    ),
    "explicit": _Seed(
        "Explicit ReAct",
        "Thinks in plain text and names each tool itself, one step at a time: Thought, Action, "
        "Observation, until it can answer. A good first choice; every step is there to read.",
        PolicySpec(policy="explicit", tools=(*TOOLS, ASK), limits=Limits(max_turns=10)),
    ),
    "implicit": _Seed(
        "Implicit ReAct",
        "Says in plain words what it wants done; the tool that fits is then found, chosen and "
        "filled in for it. Made for more tools than fit into one prompt, and takes more calls.",
        PolicySpec(
            policy="implicit",
            tools=(*TOOLS, ASK),
            limits=Limits(max_turns=20),
            settings=implicit.Settings().model_dump(),
        ),
    ),
    "native": _Seed(
        "Native calls",
        "Gives the model its tools with each request, to be called in its server's own way; calls "
        "that only read run at once. The fewest model calls of all, for models that can: today's "
        "large ones and many small ones. Where the server takes no tools, it goes on in text.",
        PolicySpec(
            policy="native",
            tools=(*TOOLS, ASK),
            limits=Limits(max_turns=20),
            settings=native.Settings().model_dump(),
        ),
    ),
    "plan_execute": _Seed(
        "Plan and execute",
        "Writes the whole plan first, makes all its tool calls in order, and then answers from the "
        "results: two model calls, however many tools. Quick and cheap where the steps do not "
        "depend on each other; a call that fails is told, not tried another way.",
        PolicySpec(policy="plan_execute", tools=TOOLS, limits=Limits(max_turns=30)),
    ),
    "planned": _Seed(
        "Planned ReAct",
        "Plans a task of several steps first, in phases and goals that you can read, then works "
        "through them one action at a time. A goal that fails has the plan adapted; one that stays "
        "failed fails the run, and says so. Made for longer tasks.",
        PolicySpec(
            policy="planned",
            tools=(*TOOLS, ASK),
            limits=Limits(max_turns=50),
            settings=planned.Settings().model_dump(mode="json"),
        ),
    ),
    "reflexion": _Seed(
        "Reflexion",
        "Works like Explicit ReAct, but in several tries. A try that gets nowhere ends in a "
        "lesson in plain words, and the next one begins with it. Made for questions where the "
        "first way often turns out to be the wrong one.",
        PolicySpec(
            policy="reflexion",
            tools=(*TOOLS, ASK),
            limits=Limits(max_turns=24),
            settings=reflexion.Settings().model_dump(),
        ),
    ),
    "rewoo": _Seed(
        "ReWOO",
        "Plans all steps first, each with a name for its result, and later steps take earlier "
        "results by that name; then it answers once. As few model calls as Plan and execute, but "
        "the steps may build on each other; after one that fails, the rest is planned anew.",
        PolicySpec(
            policy="rewoo",
            tools=TOOLS,
            limits=Limits(max_turns=30),
            settings=rewoo.Settings().model_dump(),
        ),
    ),
    "self_repair": _Seed(
        "Self-repairing ReAct",
        "Thinks aloud, then writes one exact action. A step that fails, by a wrong tool, wrong "
        "inputs or an error of the tool, is repaired a few times with the error in view before "
        "another way is taken. A good choice for models that make slips.",
        PolicySpec(
            policy="self_repair",
            tools=TOOLS,
            limits=Limits(max_turns=20),
            settings=self_repair.Settings().model_dump(),
        ),
    ),
}


IN_TEXT = "explicit"
"""Which policy a newcomer's question is asked of where the model takes no tools."""
NATIVE = "native"
"""Which one otherwise; where a server turns out to take none, it goes on in text."""


def chosen_among(policies: Sequence[Policy], wanted: str, *, takes_tools: bool) -> str:
    """Return the policy to choose for a person: the wanted one, else what suits the model best."""
    slugs = [policy.slug for policy in policies]
    suited = (NATIVE, IN_TEXT) if takes_tools else (IN_TEXT,)
    return next((slug for slug in (wanted, *suited, *slugs) if slug in slugs), "")


def offered() -> QuerySet[Policy]:
    """Return the policies that a person may choose for a question."""
    current = PolicyVersion.objects.current().filter(policy=OuterRef("pk"))
    return Policy.objects.filter(Exists(current), is_offered=True)


def offered_as(slug: str) -> Policy | None:
    """Return the policy of that name that a person may choose, None if there is none."""
    # No name has a NUL, which Postgres would not take even in a question.
    return None if "\0" in slug else offered().filter(slug=slug).first()


def publish_seeds(apps: Apps | None = None, **_: Any) -> None:
    """Publish each policy of this release and of the extensions; what people made stays.

    A database that was migrated only a part of the way, as `apps` tell, is left alone.
    """
    if apps is not None and not _is_up_to_date(apps):
        return
    for slug, seed in _seeds():
        policy, _created = Policy.objects.get_or_create(
            slug=slug,
            origin=Origin.OURS,
            defaults={"name": seed.name, "description": seed.description},
        )
        newest = policy.versions.current().order_by("-number").first()
        is_new = not policy.versions.exists()
        if is_new or (newest is not None and newest.is_of_release):
            policy.publish(seed.spec, by_release=True)


def _seeds() -> Iterator[tuple[str, _Seed]]:
    """Yield ours as the network is allowed, then what extensions offer; no slug of ours has a -."""
    for slug, seed in _SEEDS.items():
        spec = _with_network(seed.spec) if settings.NETWORK_TOOLS else seed.spec
        yield slug, seed._replace(spec=spec)
    for one in extensions().loaded:
        name = one.extension.name
        for offer in one.extension.offers:
            described = f"{offer.description} From the extension {name}.".strip()
            yield f"{name}-{offer.slug}", _Seed(offer.name, described, offer.spec)


def _is_up_to_date(apps: Apps) -> bool:
    return all(
        {field.name for field in model._meta.get_fields()}
        <= {field.name for field in apps.get_model("chat", model.__name__)._meta.get_fields()}
        for model in (Policy, PolicyVersion)
    )


def _with_network(spec: PolicySpec) -> PolicySpec:
    return spec.model_copy(update={"tools": (*spec.tools, *NETWORK_TOOLS)})
