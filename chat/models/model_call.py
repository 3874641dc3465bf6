"""A model call: the exact request and reply, without storing twice what two requests share."""

from django.db import models

from chat.models.run import Run


class ModelCall(models.Model):
    """One call to a model, kept exactly.

    The request is the first `shared` characters of the base call's request followed by `rest`;
    `digest` (SHA-256, hexadecimal) proves the rebuilt text. Times are seconds.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="model_calls")
    index = models.PositiveIntegerField()
    turn_index = models.PositiveIntegerField()
    attempt = models.PositiveIntegerField()
    purpose = models.CharField(max_length=40)
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=200)

    base = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE)
    shared = models.PositiveIntegerField(default=0)
    rest = models.TextField(blank=True)
    digest = models.CharField(max_length=64)

    reply = models.TextField(blank=True)
    reasoning = models.TextField(blank=True)
    stop_reason = models.CharField(max_length=40, blank=True)
    error = models.TextField(blank=True)
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    started_at = models.DateTimeField()
    first_token_seconds = models.FloatField(null=True, blank=True)
    seconds = models.FloatField()

    class Meta:
        ordering = ["run", "index"]
        constraints = [
            models.UniqueConstraint(fields=["run", "index"], name="one_model_call_per_index"),
        ]

    def __str__(self) -> str:
        return f"Model call {self.index + 1} of run {self.run_id}"
