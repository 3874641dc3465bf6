"""Which form of rendering made an answer's HTML: of those that are there already, an earlier one."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0010_versions_of_a_release")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="answer_form",
            field=models.PositiveSmallIntegerField(db_default=0, default=0, editable=False),
        ),
    ]
