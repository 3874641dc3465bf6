from django.db import migrations


def make_groups(apps, schema_editor):
    """Make the groups of the roles that are more than a member, where nobody has made them yet."""
    groups = apps.get_model("auth", "Group").objects.using(schema_editor.connection.alias)
    for name in ("reviewer", "admin"):
        groups.get_or_create(name=name)


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("chat", "0006_known_kinds"),
    ]

    # A group that is taken away again would take the rights of its people with it.
    operations = [migrations.RunPython(make_groups, migrations.RunPython.noop)]
