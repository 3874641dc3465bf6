"""A run is asked at a time of the database's clock, by which all its other times are told."""

from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [("chat", "0011_rendering_of_answers")]

    operations = [
        migrations.AlterField(
            model_name="run",
            name="created_at",
            field=models.DateTimeField(db_default=Now(), editable=False),
        ),
    ]
