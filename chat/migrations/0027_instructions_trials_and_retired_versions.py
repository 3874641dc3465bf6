"""Keep instructions, and let versions be trials or retired. A moment, whatever the turns."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0026_what_goes_back_with_native_calls'),
    ]

    operations = [
        migrations.AddField(
            model_name='conversation',
            name='instructions',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='policyversion',
            name='is_trial',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='policyversion',
            name='retired_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='run',
            name='conversation_instructions',
            field=models.TextField(blank=True, db_default='', default='', editable=False),
        ),
        migrations.AddField(
            model_name='run',
            name='person_instructions',
            field=models.TextField(blank=True, db_default='', default='', editable=False),
        ),
        migrations.AddField(
            model_name='user',
            name='instructions',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
    ]
