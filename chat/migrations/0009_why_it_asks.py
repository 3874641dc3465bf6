"""An approval says why it was asked for, beside its tool's own risk."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0008_workers")]

    operations = [
        migrations.AddField(
            model_name="approval",
            name="why",
            field=models.CharField(blank=True, db_default="", default="", max_length=500),
        ),
    ]
