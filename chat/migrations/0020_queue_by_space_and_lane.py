"""The queue is kept by space and lane, so that batch begins only where no chat waits.

Who waited keeps their place; runs that are no chat's, and so far waited among the chats, get a
queue of their own. The table of runs is written anew, which needs room for it twice: beside a million
turns, of 100,000 runs in 206 MB, it takes three seconds.
"""

import django.db.models.deletion
from django.db import migrations, models

FORGET_OLD = """
DROP TRIGGER chat_run_queue_deleted ON chat_run;
DROP TRIGGER chat_run_queue_changed ON chat_run;
DROP TRIGGER chat_run_queue_asked ON chat_run;
DROP FUNCTION chat_run_keep_queue;
DROP TRIGGER chat_run_owner ON chat_run;
DROP FUNCTION chat_run_take_owner;
ALTER TABLE chat_queue RENAME TO chat_queue_of_people;
ALTER INDEX queue_in_order RENAME TO queue_of_people_in_order;
"""

# The table is written once as a whole, which an UPDATE of each row would leave twice as large.
TELL_RUNS = """
ALTER TABLE chat_run ALTER COLUMN space_id TYPE bigint USING owner_id;

UPDATE chat_run SET
  space_id = conversation.space_id,
  lane = CASE conversation.kind WHEN 'chat' THEN 'chat' ELSE 'batch' END
FROM chat_conversation AS conversation WHERE conversation.id = chat_run.conversation_id
AND (conversation.space_id <> chat_run.space_id OR conversation.kind <> 'chat');

SET CONSTRAINTS ALL IMMEDIATE;
SET CONSTRAINTS ALL DEFERRED;
"""

KEEP_PLACE = """
CREATE FUNCTION chat_run_take_place() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT owner_id, space_id, CASE kind WHEN 'chat' THEN 'chat' ELSE 'batch' END
  INTO NEW.owner_id, NEW.space_id, NEW.lane
  FROM chat_conversation WHERE id = NEW.conversation_id;
  RETURN NEW;
END $$;

CREATE TRIGGER chat_run_place
BEFORE INSERT OR UPDATE OF owner_id, space_id, lane, conversation_id ON chat_run
FOR EACH ROW EXECUTE FUNCTION chat_run_take_place();
"""

# Whoever changes a run's status locks its queue until the end of the transaction; so two changes
# at once are counted one after the other, and each count sees the one before it.
KEEP_QUEUE = """
CREATE FUNCTION chat_run_keep_queue() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  run chat_run;
  queue chat_queue;
  first bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    run := OLD;
  ELSE
    run := NEW;
    INSERT INTO chat_queue (space_id, lane, running) VALUES (run.space_id, run.lane, 0)
    ON CONFLICT DO NOTHING;
  END IF;
  SELECT * INTO queue FROM chat_queue
  WHERE space_id = run.space_id AND lane = run.lane FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;

  first := (
    SELECT min(id) FROM chat_run
    WHERE space_id = run.space_id AND lane = run.lane
    AND status = 'interrupted' AND ended_at IS NULL
  );
  IF first IS NULL THEN
    first := (
      SELECT min(id) FROM chat_run
      WHERE space_id = run.space_id AND lane = run.lane
      AND status = 'queued' AND ended_at IS NULL
    );
  END IF;
  IF TG_OP <> 'DELETE' AND run.status = 'interrupted' THEN
    queue.since := least(
      CASE WHEN queue.next_run IS NULL THEN clock_timestamp() ELSE queue.since END, run.started_at
    );
  ELSIF queue.next_run IS NULL OR run.status = 'running'
    OR (TG_OP = 'UPDATE' AND OLD.status = 'running')
  THEN
    queue.since := clock_timestamp();
  END IF;

  UPDATE chat_queue SET
    running = (
      SELECT count(*) FROM chat_run
      WHERE space_id = run.space_id AND lane = run.lane
      AND status = 'running' AND ended_at IS NULL
    ),
    next_run = first,
    since = queue.since
  WHERE space_id = run.space_id AND lane = run.lane;
  RETURN NULL;
END $$;

CREATE TRIGGER chat_run_queue_asked AFTER INSERT ON chat_run
FOR EACH ROW WHEN (NEW.ended_at IS NULL) EXECUTE FUNCTION chat_run_keep_queue();

CREATE TRIGGER chat_run_queue_changed AFTER UPDATE OF status ON chat_run
FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status)
EXECUTE FUNCTION chat_run_keep_queue();

CREATE TRIGGER chat_run_queue_deleted AFTER DELETE ON chat_run
FOR EACH ROW WHEN (OLD.ended_at IS NULL) EXECUTE FUNCTION chat_run_keep_queue();

-- A small table that every claim writes: it is cleaned by its changes, not by its size.
ALTER TABLE chat_queue SET (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, fillfactor = 50
);

INSERT INTO chat_queue (space_id, lane, running, next_run, since)
SELECT owner_id, 'chat', 0, NULL, since FROM chat_queue_of_people;

INSERT INTO chat_queue (space_id, lane, running, next_run, since)
SELECT
  space_id,
  lane,
  count(*) FILTER (WHERE status = 'running'),
  coalesce(
    min(id) FILTER (WHERE status = 'interrupted'), min(id) FILTER (WHERE status = 'queued')
  ),
  min(created_at)
FROM chat_run WHERE ended_at IS NULL GROUP BY space_id, lane
ON CONFLICT (space_id, lane) DO UPDATE SET
  running = EXCLUDED.running,
  next_run = EXCLUDED.next_run,
  since = coalesce(chat_queue.since, EXCLUDED.since);

DROP TABLE chat_queue_of_people;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0019_spaces'),
    ]

    operations = [
        migrations.RunSQL(FORGET_OLD, state_operations=[migrations.DeleteModel('Queue')]),
        migrations.CreateModel(
            name='Queue',
            fields=[
                ('pk', models.CompositePrimaryKey('space_id', 'lane', blank=True, editable=False, primary_key=True, serialize=False)),
                ('space', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='queues', to='chat.space')),
                ('lane', models.CharField(choices=[('chat', 'chat'), ('batch', 'batch')], max_length=5)),
                ('running', models.PositiveIntegerField(default=0)),
                ('next_run', models.BigIntegerField(blank=True, null=True)),
                ('since', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('next_run', None), ('since__isnull', False), _connector='OR'), name='queue_since_if_waiting'),
                    models.CheckConstraint(condition=models.Q(('lane__in', ['chat', 'batch'])), name='queue_lane_is_known'),
                ],
                'indexes': [models.Index(condition=models.Q(('next_run__isnull', False)), fields=['-lane', 'running', 'since', 'space'], name='queue_in_order')],
            },
        ),
        migrations.RemoveIndex(
            model_name='run',
            name='run_in_queue',
        ),
        migrations.AddField(
            model_name='run',
            name='lane',
            field=models.CharField(choices=[('chat', 'chat'), ('batch', 'batch')], db_default='chat', editable=False, max_length=5),
        ),
        migrations.AddField(
            model_name='run',
            name='space_id',
            field=models.BigIntegerField(editable=False, null=True),
        ),
        migrations.RunSQL(TELL_RUNS, migrations.RunSQL.noop),
        migrations.AlterField(
            model_name='run',
            name='space_id',
            field=models.BigIntegerField(editable=False),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(('lane__in', ['chat', 'batch'])), name='run_lane_is_known'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('ended_at', None)), fields=['space_id', 'lane', 'status', 'id'], name='run_in_queue'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('ended_at', None)), fields=['owner'], name='run_live_of_owner'),
        ),
        migrations.RunSQL(KEEP_PLACE + KEEP_QUEUE),
    ]
