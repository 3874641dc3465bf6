"""What was called a line is called a queue: the table, its triggers and indexes; no row changes."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

FUNCTION = """
CREATE FUNCTION chat_run_keep_{name}() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  run chat_run;
  queue chat_{name};
  first bigint;
BEGIN
  IF TG_OP = 'DELETE' THEN
    run := OLD;
  ELSE
    run := NEW;
    INSERT INTO chat_{name} (owner_id, running) VALUES (run.owner_id, 0) ON CONFLICT DO NOTHING;
  END IF;
  SELECT * INTO queue FROM chat_{name} WHERE owner_id = run.owner_id FOR NO KEY UPDATE;
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
    queue.since := least(
      CASE WHEN queue.next_run IS NULL THEN clock_timestamp() ELSE queue.since END, run.started_at
    );
  ELSIF queue.next_run IS NULL OR run.status = 'running'
    OR (TG_OP = 'UPDATE' AND OLD.status = 'running')
  THEN
    queue.since := clock_timestamp();
  END IF;

  UPDATE chat_{name} SET
    running = (
      SELECT count(*) FROM chat_run
      WHERE owner_id = run.owner_id AND status = 'running' AND ended_at IS NULL
    ),
    next_run = first,
    since = queue.since
  WHERE owner_id = run.owner_id;
  RETURN NULL;
END $$;

CREATE TRIGGER chat_run_{name}_asked AFTER INSERT ON chat_run
FOR EACH ROW WHEN (NEW.ended_at IS NULL) EXECUTE FUNCTION chat_run_keep_{name}();

CREATE TRIGGER chat_run_{name}_changed AFTER UPDATE OF status ON chat_run
FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status)
EXECUTE FUNCTION chat_run_keep_{name}();

CREATE TRIGGER chat_run_{name}_deleted AFTER DELETE ON chat_run
FOR EACH ROW WHEN (OLD.ended_at IS NULL) EXECUTE FUNCTION chat_run_keep_{name}();
"""

FORGET = """
DROP TRIGGER chat_run_{name}_deleted ON chat_run;
DROP TRIGGER chat_run_{name}_changed ON chat_run;
DROP TRIGGER chat_run_{name}_asked ON chat_run;
DROP FUNCTION chat_run_keep_{name};
"""


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0012_asked_by_the_clock_of_the_database'),
    ]

    operations = [
        migrations.RunSQL(FORGET.format(name="line"), FUNCTION.format(name="line")),
        migrations.RenameModel('Line', 'Queue'),
        migrations.AlterField(
            model_name='queue',
            name='owner',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='queue', serialize=False, to=settings.AUTH_USER_MODEL),
        ),
        migrations.RenameIndex(
            model_name='queue', old_name='line_in_order', new_name='queue_in_order'
        ),
        migrations.RenameIndex(model_name='run', old_name='run_in_line', new_name='run_in_queue'),
        migrations.RemoveConstraint(model_name='queue', name='line_since_if_waiting'),
        migrations.AddConstraint(
            model_name='queue',
            constraint=models.CheckConstraint(condition=models.Q(('next_run', None), ('since__isnull', False), _connector='OR'), name='queue_since_if_waiting'),
        ),
        migrations.RunSQL(FUNCTION.format(name="queue"), FORGET.format(name="queue")),
    ]
