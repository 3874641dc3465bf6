"""What people choose when they ask a question again."""

from django import forms

from chat.models import PolicyVersion
from chat.policies import offered, offered_as


class AgainForm(forms.Form):
    """The policy that a question is asked again under."""

    policy = forms.Field(required=False)

    def clean_policy(self) -> PolicyVersion:
        """Return the newest version of the policy that was chosen."""
        slug = self.cleaned_data["policy"] or ""
        policy = offered_as(slug)
        if policy is None:
            choices = ", ".join(offered().values_list("slug", flat=True))
            named = f"There is no policy {slug!r}" if slug else "No policy was chosen"
            raise forms.ValidationError(f"{named}. Ask again under one of these: {choices}.")
        return policy.latest
