"""Let policies be foreign: they say what made runs elsewhere. A moment, whatever the turns."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0020_queue_by_space_and_lane'),
    ]

    operations = [
        migrations.AddField(
            model_name='policy',
            name='origin',
            field=models.CharField(choices=[('ours', 'ours'), ('foreign', 'foreign')], db_default='ours', default='ours', editable=False, max_length=7),
        ),
        migrations.AlterField(
            model_name='policy',
            name='slug',
            field=models.SlugField(),
        ),
        migrations.AddConstraint(
            model_name='policy',
            constraint=models.UniqueConstraint(fields=('slug', 'origin'), name='one_policy_per_slug'),
        ),
        migrations.AddConstraint(
            model_name='policy',
            constraint=models.CheckConstraint(condition=models.Q(('origin__in', ['ours', 'foreign'])), name='policy_origin_is_known'),
        ),
        migrations.AddConstraint(
            model_name='policy',
            constraint=models.CheckConstraint(condition=models.Q(('origin', 'ours'), ('is_offered', False), _connector='OR'), name='foreign_policy_is_not_offered'),
        ),
    ]
