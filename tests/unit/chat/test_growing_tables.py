"""What grows with use names its space, so that it can be divided by it."""

from collections.abc import Iterator

from django.apps import apps
from django.db import models

from chat.models import Run


def of_runs() -> Iterator[type[models.Model]]:
    """Yield the models whose rows go with a run, and that of runs itself."""
    waiting: list[type[models.Model]] = [Run]
    seen = set(waiting)
    while waiting:
        model = waiting.pop()
        yield model
        for relation in model._meta.related_objects:
            goes_along = getattr(relation, "on_delete", None) is models.CASCADE
            if goes_along and relation.related_model not in seen:
                seen.add(relation.related_model)
                waiting.append(relation.related_model)


def test_every_row_that_goes_with_a_run_names_its_space() -> None:
    found = {model._meta.label: model for model in of_runs()}

    assert {"chat.Run", "chat.Turn", "chat.Action", "chat.ModelCall", "chat.Piece"} <= found.keys()
    for label, model in found.items():
        fields = {field.attname: field for field in model._meta.concrete_fields}
        assert "space_id" in fields, f"{label} grows with use: give it the space of its run."
        assert not fields["space_id"].null, label


def test_every_chat_model_is_known_to_grow_with_runs_or_with_people() -> None:
    with_people = {
        *("chat.User", "chat.Space", "chat.Membership", "chat.Conversation", "chat.Queue"),
        *("chat.Policy", "chat.PolicyVersion", "chat.Worker"),
        "chat.Stray",  # a content, which may be of many runs or of none
    }
    ours = {
        model._meta.label
        for model in apps.get_app_config("chat").get_models()
        if not model._meta.auto_created
    }

    assert ours == with_people | {model._meta.label for model in of_runs()}
