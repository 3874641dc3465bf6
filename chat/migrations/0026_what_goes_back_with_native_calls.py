"""Keep what goes back to a model's server with native calls. A moment, whatever the turns."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0025_cached_and_reasoning_tokens'),
    ]

    operations = [
        migrations.AddField(
            model_name='turn',
            name='kept',
            field=models.JSONField(blank=True, null=True),
        ),
    ]
