"""What a turn did moves into rows of their own, of which a turn has as many as it called tools.

Every call and every observation is kept. Postgres writes each of them once anew: some six
seconds a million turns; to drop the columns that held them reads no row. There is no way back, for
a turn of several actions would lose all but one.
"""

import django.db.models.deletion
from django.db import migrations, models

import chat.models.ordered_json

MOVE = """
    INSERT INTO chat_action (
        turn_id, position, tool, inputs, observation, error, ends, images, started_at, ended_at
    )
    SELECT id, 0, tool, inputs, observation, observation_error, observation_ends,
        observation_images, acted_at, CASE WHEN observation IS NOT NULL THEN ended_at END
    FROM chat_turn WHERE tool <> '' OR observation IS NOT NULL ORDER BY id
"""
NO_CALL = models.Q(("inputs__isnull", True), ("tool", ""))
CALL = models.Q(models.Q(("tool", ""), _negated=True), ("inputs__isnull", False))


class Migration(migrations.Migration):
    dependencies = [("chat", "0015_versions_say_what_made_a_run")]

    operations = [
        migrations.CreateModel(
            name="Action",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveSmallIntegerField()),
                ("tool", models.CharField(blank=True, max_length=120)),
                (
                    "inputs",
                    chat.models.ordered_json.OrderedJSONField(blank=True, null=True),
                ),
                ("observation", models.TextField(blank=True, null=True)),
                ("error", models.CharField(blank=True, db_default="", default="", max_length=60)),
                ("ends", models.CharField(blank=True, db_default="", default="", max_length=24)),
                ("images", models.JSONField(blank=True, null=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "turn",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="stored_actions",
                        to="chat.turn",
                    ),
                ),
            ],
            options={
                "ordering": ["turn_id", "position"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("turn", "position"), name="one_action_per_position"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(NO_CALL, CALL, _connector="OR"),
                        name="action_tool_iff_inputs",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("ended_at__isnull", True),
                            ("observation__isnull", False),
                            _connector="OR",
                        ),
                        name="action_ended_is_observed",
                    ),
                ],
            },
        ),
        migrations.RunSQL(MOVE),
        migrations.RemoveConstraint(model_name="turn", name="turn_tool_iff_inputs"),
        migrations.RemoveField(model_name="turn", name="tool"),
        migrations.RemoveField(model_name="turn", name="inputs"),
        migrations.RemoveField(model_name="turn", name="observation"),
        migrations.RemoveField(model_name="turn", name="observation_error"),
        migrations.RemoveField(model_name="turn", name="observation_ends"),
        migrations.RemoveField(model_name="turn", name="observation_images"),
        migrations.RemoveField(model_name="turn", name="acted_at"),
        migrations.AlterModelOptions(
            name="approval", options={"ordering": ["run", "turn_index", "position"]}
        ),
        migrations.AddField(
            model_name="approval",
            name="position",
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AddConstraint(
            model_name="approval",
            constraint=models.UniqueConstraint(
                fields=("run", "turn_index", "position"), name="one_approval_per_action"
            ),
        ),
        migrations.RemoveConstraint(model_name="approval", name="one_approval_per_turn"),
    ]
