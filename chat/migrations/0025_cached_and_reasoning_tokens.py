"""Let model calls say what was cached and what was thought. A moment, whatever the turns."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0024_artifacts'),
    ]

    operations = [
        migrations.AddField(
            model_name='modelcall',
            name='cached_tokens',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='modelcall',
            name='reasoning_tokens',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
    ]
