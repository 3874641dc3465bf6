"""Tell what a release published from what people did, so that only the first is followed up."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

SEEDS = (
    *("careful", "explicit", "implicit", "plan_execute"),
    *("planned", "reflexion", "rewoo", "self_repair"),
)
NETWORK = {"web_search", "wikipedia", "http_get"}


def mark(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Mark each seed's first version, and those that differ from it by the network's tools alone.

    Who made any other cannot be told, so it stays as if a person had.
    """
    versions = apps.get_model("chat", "PolicyVersion").objects.filter(created_by=None)
    for slug in SEEDS:
        of_slug = list(versions.filter(policy__slug=slug).order_by("number"))
        if not of_slug or of_slug[0].number != 1:
            continue
        first = _closed(of_slug[0].content)
        ours = [version.pk for version in of_slug if _closed(version.content) == first]
        versions.filter(pk__in=ours).update(is_of_release=True)


def _closed(content: dict[str, object]) -> dict[str, object]:
    """Return a version's content without the tools that reach out."""
    tools = content.get("tools")
    names = tools if isinstance(tools, list) else []
    return content | {"tools": [name for name in names if name not in NETWORK]}


class Migration(migrations.Migration):
    dependencies = [("chat", "0009_why_it_asks")]

    operations = [
        migrations.AddField(
            model_name="policyversion",
            name="is_of_release",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]
