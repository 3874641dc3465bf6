"""A conversation says what it is there for, and times may be unknown; no row changes.

Postgres reads each turn once for the looser constraint, about a second a million; all else is done
without looking at rows, but for the index over conversations.
"""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0013_line_is_called_queue'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='turn',
            name='turn_ended_at_iff_not_open',
        ),
        migrations.RemoveIndex(
            model_name='conversation',
            name='chat_conver_owner_i_c4ac84_idx',
        ),
        migrations.AddField(
            model_name='conversation',
            name='kind',
            field=models.CharField(choices=[('chat', 'chat'), ('import', 'import'), ('trial', 'trial'), ('fork', 'fork')], db_default='chat', default='chat', editable=False, max_length=8),
        ),
        migrations.AddField(
            model_name='run',
            name='told_at',
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AlterField(
            model_name='modelcall',
            name='seconds',
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='modelcall',
            name='started_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='turn',
            name='started_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(fields=['owner', 'kind', '-updated_at', '-id'], name='conversation_newest_of_kind'),
        ),
        migrations.AddConstraint(
            model_name='conversation',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['chat', 'import', 'trial', 'fork'])), name='conversation_kind_is_known'),
        ),
        migrations.AddConstraint(
            model_name='turn',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('status', 'open'), _negated=True), ('ended_at__isnull', True), _connector='OR'), name='turn_open_has_no_end'),
        ),
    ]
