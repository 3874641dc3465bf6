"""The message that began a conversation; it is unknown for those that are there already."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0004_line")]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="first_message_id",
            field=models.UUIDField(blank=True, editable=False, null=True),
        ),
        migrations.AddConstraint(
            model_name="conversation",
            constraint=models.UniqueConstraint(
                fields=("owner", "first_message_id"), name="one_conversation_per_first_message"
            ),
        ),
    ]
