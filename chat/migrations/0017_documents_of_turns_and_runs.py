"""Search keeps what is a run's own in a row a run; the rows of turns no longer say it.

No row of a turn is written anew but those with an error, so the index over words stays as it is:
`owner_id` is called `space_id`, with its values. The rows that are there already keep their words
without weights, and the beginning of 1970 as their time, so they stand in the order of their
numbers behind all newer ones; `manage.py index_turns` makes them anew.

A hundred thousand turns of ten thousand runs took 7 s on two cores with a load of 15, most of it
for the new indexes; so a million take a little more than a minute.
"""

from datetime import UTC, datetime

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
from django.db import migrations, models

# What the product writes for a run, without weights or stems for what nobody can split in SQL: the
# words of Postgres' own parser, which serve until the run is indexed anew.
FILL = """
INSERT INTO chat_rundocument (
  run_id, space_id, kind, policy, version, model, status, reason, has_error, turns, tokens, seconds,
  at, words
)
SELECT run.id, conversation.owner_id, conversation.kind, policy.slug, version.number, run.model,
  CASE WHEN run.status IN ('waiting', 'interrupted') THEN 'running' ELSE run.status END, run.reason,
  run.ended_at IS NOT NULL AND (run.status = 'failed' OR coalesce(of_run.has_error, false)),
  CASE WHEN run.ended_at IS NOT NULL THEN coalesce(of_run.turns, 0) END,
  CASE WHEN run.ended_at IS NOT NULL
    AND (run.input_tokens IS NOT NULL OR run.output_tokens IS NOT NULL)
    THEN coalesce(run.input_tokens, 0) + coalesce(run.output_tokens, 0) END,
  CASE WHEN run.ended_at IS NOT NULL AND run.started_at IS NOT NULL THEN
    CASE WHEN run.claimed_at IS NOT NULL
      THEN run.seconds_used + greatest(0, extract(epoch FROM run.ended_at - run.claimed_at))
      ELSE coalesce(
        nullif(run.seconds_used, 0), greatest(0, extract(epoch FROM run.ended_at - run.started_at))
      ) END END,
  coalesce(run.told_at, run.created_at),
  setweight(to_tsvector('simple', left(run.question, 50000)), 'A')
    || setweight(to_tsvector('simple', left(run.answer, 50000)), 'B')
    || setweight(to_tsvector('simple', left(run.message, 50000)), 'C')
    || setweight(to_tsvector('simple', conversation.title), 'D')
FROM chat_run AS run
JOIN chat_conversation AS conversation ON conversation.id = run.conversation_id
JOIN chat_policyversion AS version ON version.id = run.policy_version_id
JOIN chat_policy AS policy ON policy.id = version.policy_id
LEFT JOIN (
  SELECT run_id, count(DISTINCT turn.id) AS turns, bool_or(action.error <> '') AS has_error
  FROM chat_turn AS turn LEFT JOIN chat_action AS action ON action.turn_id = turn.id
  GROUP BY run_id
) AS of_run ON of_run.run_id = run.id
"""

ERRORS = """
UPDATE chat_turndocument SET has_error = true
WHERE turn_id IN (SELECT turn_id FROM chat_action WHERE error <> '')
"""
KINDS = """
UPDATE chat_turndocument SET kind = conversation.kind
FROM chat_run AS run JOIN chat_conversation AS conversation ON conversation.id = run.conversation_id
WHERE run.id = run_id AND conversation.kind <> 'chat'
"""
RENAME = "ALTER TABLE chat_turndocument RENAME COLUMN {} TO {}"


class Migration(migrations.Migration):
    dependencies = [("chat", "0016_a_turn_has_several_actions")]

    operations = [
        migrations.CreateModel(
            name="RunDocument",
            fields=[
                ("run", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="document", serialize=False, to="chat.run")),
                ("space_id", models.BigIntegerField()),
                ("kind", models.CharField(max_length=8)),
                ("policy", models.CharField(max_length=50)),
                ("version", models.PositiveIntegerField()),
                ("model", models.CharField(blank=True, max_length=200)),
                ("status", models.CharField(max_length=12)),
                ("reason", models.CharField(blank=True, max_length=24)),
                ("has_error", models.BooleanField(default=False)),
                ("turns", models.PositiveIntegerField(blank=True, null=True)),
                ("tokens", models.PositiveBigIntegerField(blank=True, null=True)),
                ("seconds", models.FloatField(blank=True, null=True)),
                ("at", models.DateTimeField()),
                ("words", django.contrib.postgres.search.SearchVectorField()),
            ],
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AddIndex("rundocument", django.contrib.postgres.indexes.GinIndex(fields=["space_id", "words"], name="run_space_words")),
        migrations.AddIndex("rundocument", models.Index(fields=["space_id", "at"], name="run_space_newest")),
        migrations.AddIndex("rundocument", models.Index(fields=["policy", "at"], name="run_policy_newest")),
        migrations.AddIndex("rundocument", models.Index(fields=["model", "at"], name="run_model_newest")),
        migrations.AddIndex("rundocument", models.Index(fields=["status", "at"], name="run_status_newest")),
        migrations.AddIndex("rundocument", models.Index(condition=models.Q(("has_error", True)), fields=["at"], name="run_error_newest")),
        migrations.RenameModel("SearchDocument", "TurnDocument"),
        migrations.AlterField(
            model_name="turndocument",
            name="turn",
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="document", serialize=False, to="chat.turn"),
        ),
        migrations.RemoveIndex("turndocument", "search_owner_newest"),
        migrations.RemoveIndex("turndocument", "search_tool_newest"),
        migrations.RenameIndex("turndocument", new_name="turn_space_words", old_name="search_owner_words"),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    RENAME.format("owner_id", "space_id"), RENAME.format("space_id", "owner_id")
                ),
            ],
            state_operations=[
                migrations.RemoveIndex("turndocument", "turn_space_words"),
                migrations.RenameField("turndocument", "owner_id", "space_id"),
                migrations.AddIndex("turndocument", django.contrib.postgres.indexes.GinIndex(fields=["space_id", "words"], name="turn_space_words")),
                migrations.RemoveField("turndocument", "run_id"),
                migrations.AddField(
                    model_name="turndocument",
                    name="run_document",
                    field=models.ForeignKey(db_column="run_id", db_constraint=False, db_index=False, default=0, on_delete=django.db.models.deletion.DO_NOTHING, related_name="turn_documents", to="chat.rundocument"),
                    preserve_default=False,
                ),
            ],
        ),
        migrations.RemoveField("turndocument", "policy"),
        migrations.RemoveField("turndocument", "status"),
        migrations.AddField("turndocument", "kind", models.CharField(default="chat", max_length=8), preserve_default=False),
        migrations.AddField("turndocument", "at", models.DateTimeField(default=datetime(1970, 1, 1, tzinfo=UTC)), preserve_default=False),
        migrations.AddField("turndocument", "has_error", models.BooleanField(default=False)),
        migrations.AddField("turndocument", "other_tools", django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=120), blank=True, null=True, size=None)),
        migrations.AddIndex("turndocument", django.contrib.postgres.indexes.GinIndex(condition=models.Q(("other_tools__isnull", False)), fields=["other_tools"], name="turn_other_tools")),
        migrations.RunSQL(ERRORS, migrations.RunSQL.noop),
        migrations.RunSQL(KINDS, migrations.RunSQL.noop),
        migrations.AddIndex("turndocument", models.Index(fields=["run_document", "turn"], name="turn_of_run")),
        migrations.AddIndex("turndocument", models.Index(fields=["at", "turn"], name="turn_newest")),
        migrations.AddIndex("turndocument", models.Index(fields=["space_id", "at", "turn"], name="turn_space_newest")),
        migrations.AddIndex("turndocument", models.Index(fields=["tool", "at", "turn"], name="turn_tool_newest")),
        migrations.AddIndex("turndocument", models.Index(condition=models.Q(("has_error", True)), fields=["at", "turn"], name="turn_error_newest")),
    ]
