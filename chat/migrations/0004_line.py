"""The line of those who wait for a worker, and the triggers that keep it true."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

OWNERS = """
UPDATE chat_run SET owner_id = chat_conversation.owner_id
FROM chat_conversation WHERE chat_conversation.id = chat_run.conversation_id;
"""

KEEP_OWNER = """
CREATE FUNCTION chat_run_take_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT owner_id INTO NEW.owner_id FROM chat_conversation WHERE id = NEW.conversation_id;
  RETURN NEW;
END $$;

CREATE TRIGGER chat_run_owner BEFORE INSERT OR UPDATE OF owner_id, conversation_id ON chat_run
FOR EACH ROW EXECUTE FUNCTION chat_run_take_owner();
"""

# Whoever changes a run's status locks its owner's line until the end of the transaction; so two
# changes at once are counted one after the other, and each count sees the one before it.
KEEP_LINE = """
CREATE FUNCTION chat_run_keep_line() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  run chat_run;
  line chat_line;
  first bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    run := OLD;
  ELSE
    run := NEW;
    INSERT INTO chat_line (owner_id, running) VALUES (run.owner_id, 0) ON CONFLICT DO NOTHING;
  END IF;
  SELECT * INTO line FROM chat_line WHERE owner_id = run.owner_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;

  first := (
    SELECT min(id) FROM chat_run
    WHERE owner_id = run.owner_id AND status = 'interrupted' AND ended_at IS NULL
  );
  IF first IS NULL THEN
    first := (
      SELECT min(id) FROM chat_run
      WHERE owner_id = run.owner_id AND status = 'queued' AND ended_at IS NULL
    );
  END IF;
  IF TG_OP <> 'DELETE' AND run.status = 'interrupted' THEN
    line.since := least(
      CASE WHEN line.next_run IS NULL THEN clock_timestamp() ELSE line.since END, run.started_at
    );
  ELSIF line.next_run IS NULL OR run.status = 'running'
    OR (TG_OP = 'UPDATE' AND OLD.status = 'running')
  THEN
    line.since := clock_timestamp();
  END IF;

  UPDATE chat_line SET
    running = (
      SELECT count(*) FROM chat_run
      WHERE owner_id = run.owner_id AND status = 'running' AND ended_at IS NULL
    ),
    next_run = first,
    since = line.since
  WHERE owner_id = run.owner_id;
  RETURN NULL;
END $$;

CREATE TRIGGER chat_run_line_asked AFTER INSERT ON chat_run
FOR EACH ROW WHEN (NEW.ended_at IS NULL) EXECUTE FUNCTION chat_run_keep_line();

CREATE TRIGGER chat_run_line_changed AFTER UPDATE OF status ON chat_run
FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status)
EXECUTE FUNCTION chat_run_keep_line();

CREATE TRIGGER chat_run_line_deleted AFTER DELETE ON chat_run
FOR EACH ROW WHEN (OLD.ended_at IS NULL) EXECUTE FUNCTION chat_run_keep_line();

-- A small table that every claim writes: it is cleaned by its changes, not by its size.
ALTER TABLE chat_line SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, fillfactor = 50
);

INSERT INTO chat_line (owner_id, running, next_run, since)
SELECT
  owner_id,
  count(*) FILTER (WHERE status = 'running'),
  coalesce(
    min(id) FILTER (WHERE status = 'interrupted'), min(id) FILTER (WHERE status = 'queued')
  ),
  min(created_at)
FROM chat_run WHERE ended_at IS NULL GROUP BY owner_id;
"""

FORGET = """
DROP TRIGGER chat_run_line_deleted ON chat_run;
DROP TRIGGER chat_run_line_changed ON chat_run;
DROP TRIGGER chat_run_line_asked ON chat_run;
DROP FUNCTION chat_run_keep_line;
DROP TRIGGER chat_run_owner ON chat_run;
DROP FUNCTION chat_run_take_owner;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0003_keep_the_order_of_inputs'),
    ]

    operations = [
        migrations.RemoveField(
            model_name='run',
            name='woken_at',
        ),
        migrations.CreateModel(
            name='Line',
            fields=[
                ('owner', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='line', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('running', models.PositiveIntegerField(default=0)),
                ('next_run', models.BigIntegerField(blank=True, null=True)),
                ('since', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('next_run__isnull', False)), fields=['running', 'since', 'owner'], name='line_in_order')],
                'constraints': [models.CheckConstraint(condition=models.Q(('next_run', None), ('since__isnull', False), _connector='OR'), name='line_since_if_waiting')],
            },
        ),
        migrations.AddField(
            model_name='run',
            name='owner',
            field=models.ForeignKey(db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='runs', to=settings.AUTH_USER_MODEL),
        ),
        migrations.RunSQL(OWNERS, migrations.RunSQL.noop),
        migrations.AlterField(
            model_name='run',
            name='owner',
            field=models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='runs', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['owner', 'created_at'], name='run_of_owner'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('ended_at', None)), fields=['owner', 'status', 'id'], name='run_in_line'),
        ),
        migrations.RunSQL(KEEP_OWNER + KEEP_LINE, FORGET),
    ]
