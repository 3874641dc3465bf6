"""Workers say in a row of their own that they live."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0007_groups_of_roles")]

    operations = [
        migrations.CreateModel(
            name="Worker",
            fields=[
                ("name", models.CharField(max_length=100, primary_key=True, serialize=False)),
                ("seen_at", models.DateTimeField()),
            ],
        ),
    ]
