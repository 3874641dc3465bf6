"""Requests are stored as pieces from now on; those that are stored stay as they are.

No row changes. Postgres reads each call once, for Django makes its foreign key anew without an
index of its own, which the one over run and index makes needless: 1.2 s a million calls.
"""

import chat.models.ordered_json
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0017_documents_of_turns_and_runs'),
    ]

    operations = [
        migrations.AddField(
            model_name='modelcall',
            name='pieces',
            field=chat.models.ordered_json.OrderedJSONField(editable=False, null=True),
        ),
        migrations.AlterField(
            model_name='modelcall',
            name='run',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='model_calls', to='chat.run'),
        ),
        migrations.CreateModel(
            name='Piece',
            fields=[
                ('pk', models.CompositePrimaryKey('run', 'digest', blank=True, editable=False, primary_key=True, serialize=False)),
                ('digest', models.UUIDField(editable=False)),
                ('text', models.TextField(editable=False)),
                ('redacted_at', models.DateTimeField(editable=False, null=True)),
                ('run', models.ForeignKey(db_index=False, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='pieces', to='chat.run')),
            ],
        ),
    ]
