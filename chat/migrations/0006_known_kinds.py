"""A turn is of a known kind, as the engine has always written it; words that name no "you"."""

from django.contrib.postgres.operations import AddConstraintNotValid, ValidateConstraint
from django.db import migrations, models

KINDS = ["thought", "action", "final"]

# A row that somebody wrote by hand gets the kind that its parts tell of. No new one can come in
# between, for the constraint is there before.
MEND = """
    UPDATE chat_turn
    SET kind = CASE WHEN answer <> '' THEN 'final' WHEN tool <> '' THEN 'action' ELSE 'thought' END
    WHERE kind NOT IN ('thought', 'action', 'final')
"""


class Migration(migrations.Migration):
    dependencies = [("chat", "0005_first_message")]

    operations = [
        AddConstraintNotValid(
            model_name="turn",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", KINDS)), name="turn_kind_is_known"
            ),
        ),
        migrations.RunSQL(MEND, migrations.RunSQL.noop),
        ValidateConstraint(model_name="turn", name="turn_kind_is_known"),
        migrations.AlterField(
            model_name="approval",
            name="status",
            field=models.CharField(
                choices=[
                    ("pending", "waits for an answer"),
                    ("granted", "allowed"),
                    ("denied", "not allowed"),
                    ("expired", "not answered in time"),
                    ("withdrawn", "not needed any more"),
                ],
                default="pending",
                max_length=12,
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="status",
            field=models.CharField(
                choices=[
                    ("queued", "queued"),
                    ("running", "running"),
                    ("waiting", "waiting for an answer"),
                    ("interrupted", "interrupted, will resume"),
                    ("succeeded", "answered"),
                    ("exhausted", "ran out"),
                    ("stopped", "stopped"),
                    ("failed", "failed"),
                ],
                default="queued",
                max_length=12,
            ),
        ),
    ]
