"""Pictures and very long observations become artifacts from now on; what is stored stays in its rows.

`manage.py artifacts move` moves those of before, when it suits. No row is written. Postgres reads
each action twice, to see that the new constraints hold: two seconds a million actions.
"""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

# One statement a deletion, in order: two that delete the same contents do not wait for each other
# in a circle. Who is about to write one of them finds that it was swept, and puts it there anew.
KEEP_STRAYS = """
CREATE FUNCTION chat_artifact_leave_strays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO chat_stray (sha256, until) SELECT DISTINCT sha256, now() FROM gone ORDER BY sha256
  ON CONFLICT (sha256) DO UPDATE SET until = EXCLUDED.until;
  RETURN NULL;
END $$;

CREATE TRIGGER chat_artifact_strays AFTER DELETE ON chat_artifact
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION chat_artifact_leave_strays();

CREATE TRIGGER chat_artifact_space BEFORE INSERT OR UPDATE OF space_id ON chat_artifact
FOR EACH ROW WHEN (NEW.space_id IS NULL) EXECUTE FUNCTION chat_take_space_of_run();
"""
FORGET_STRAYS = """
DROP TRIGGER chat_artifact_space ON chat_artifact;
DROP TRIGGER chat_artifact_strays ON chat_artifact;
DROP FUNCTION chat_artifact_leave_strays;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0023_fill_in_the_spaces_of_rows'),
    ]

    operations = [
        migrations.CreateModel(
            name='Artifact',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('space_id', models.BigIntegerField(editable=False)),
                ('name', models.CharField(editable=False, max_length=200)),
                ('media_type', models.CharField(editable=False, max_length=100)),
                ('size', models.PositiveBigIntegerField(editable=False)),
                ('sha256', models.CharField(editable=False, max_length=64)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('run', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='artifacts', to='chat.run')),
                ('turn', models.ForeignKey(editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='artifacts', to='chat.turn')),
            ],
            options={
                'ordering': ['run', 'id'],
                'indexes': [models.Index(fields=['sha256'], name='artifact_sha256')],
                'constraints': [models.UniqueConstraint(fields=('run', 'sha256', 'name'), name='one_artifact_per_content_and_name')],
            },
        ),
        migrations.CreateModel(
            name='Stray',
            fields=[
                ('sha256', models.CharField(editable=False, max_length=64, primary_key=True, serialize=False)),
                ('until', models.DateTimeField(db_index=True, editable=False)),
            ],
        ),
        migrations.RunSQL(KEEP_STRAYS, FORGET_STRAYS),
        migrations.AddField(
            model_name='action',
            name='whole',
            field=models.CharField(blank=True, db_default='', default='', max_length=64),
        ),
        migrations.AddField(
            model_name='action',
            name='whole_length',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddConstraint(
            model_name='action',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('whole', ''), ('whole_length__isnull', True)), models.Q(models.Q(('whole', ''), _negated=True), ('whole_length__isnull', False)), _connector='OR'), name='action_whole_has_its_length'),
        ),
    ]
