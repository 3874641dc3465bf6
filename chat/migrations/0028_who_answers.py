"""Let a run say which model was chosen and in whose place it was answered, a call where. A moment,
whatever the turns: Postgres writes no row.
"""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0027_instructions_trials_and_retired_versions'),
    ]

    operations = [
        migrations.AddField(
            model_name='modelcall',
            name='address',
            field=models.CharField(blank=True, db_default='', default='', max_length=500),
        ),
        migrations.AddField(
            model_name='run',
            name='chosen_model',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
        migrations.AddField(
            model_name='run',
            name='chosen_provider',
            field=models.CharField(blank=True, db_default='', default='', max_length=40),
        ),
        migrations.AddField(
            model_name='run',
            name='instead_of',
            field=models.CharField(blank=True, db_default='', default='', max_length=40),
        ),
    ]
