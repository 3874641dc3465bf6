"""What people send to a conversation by a form, checked before anything is stored."""

from typing import Any, TypedDict
from uuid import UUID, uuid4

from django import forms

from agents.policies.spec import INSTRUCTIONS_LENGTH
from agents.text import storable
from chat.models import PolicyVersion
from chat.models.conversation import TITLE_LENGTH
from chat.policies import offered_as
from chat.runs.models_offered import ModelOffered, chosen_model
from chat.runs.validation import InvalidQuestion


class Question(TypedDict):
    """What `chat.runs.ask.ask` takes of a form."""

    question: str
    policy_version: PolicyVersion
    model: ModelOffered | None
    client_message_id: UUID


class TypedField(forms.CharField):
    """Text with the line ends that were typed, not a form's; it may be empty."""

    def __init__(self) -> None:
        super().__init__(required=False, strip=False)

    def to_python(self, value: Any) -> str:
        """Return the text without what no database keeps."""
        text = super().to_python(value) or ""
        return text.replace("\r\n", "\n").replace("\0", "")


class OneLineField(forms.CharField):
    """Text on one line."""

    def to_python(self, value: Any) -> str:
        """Return the words of the text, a space between them."""
        text = super().to_python(value) or ""
        return " ".join(text.replace("\0", "").split())


class QuestionForm(forms.Form):
    """A question; whether its text may be asked is said where it is stored, however it comes."""

    text = TypedField()
    policy = forms.Field(required=False)
    model = forms.Field(required=False)
    client_message_id = forms.Field(required=False)

    def clean_policy(self) -> PolicyVersion:
        """Return the newest version of the policy that was chosen."""
        policy = offered_as(self.cleaned_data["policy"] or "")
        if policy is None:
            raise forms.ValidationError("Choose one of the policies in the list.")
        return policy.latest

    def clean_client_message_id(self) -> UUID:
        """Return the id under which a form sent twice is one question; a new one if it has none."""
        try:
            return UUID(self.cleaned_data["client_message_id"] or "")
        except ValueError:
            return uuid4()

    def asked(self) -> Question:
        """Return what was asked. Raises InvalidQuestion for what is not offered."""
        if not self.is_valid():
            raise InvalidQuestion(str(self.errors["policy"][0]))
        return Question(
            question=self.cleaned_data["text"],
            policy_version=self.cleaned_data["policy"],
            model=chosen_model(self.cleaned_data["model"] or ""),
            client_message_id=self.cleaned_data["client_message_id"],
        )


class TitleForm(forms.Form):
    """A title for a conversation."""

    title = OneLineField(
        max_length=TITLE_LENGTH,
        error_messages={
            "required": "Give it a title.",
            "max_length": f"A title has at most {TITLE_LENGTH} characters.",
        },
    )


class InstructionsForm(forms.Form):
    """What a model is told in every run, of a person or in a conversation; it may be empty."""

    instructions = TypedField()

    def clean_instructions(self) -> str:
        """Return them as they are stored."""
        told = storable(str(self.cleaned_data["instructions"])).strip()
        if len(told) > INSTRUCTIONS_LENGTH:
            raise forms.ValidationError(
                f"These have {len(told):,} characters; the limit is {INSTRUCTIONS_LENGTH:,}."
            )
        return told


class ApprovalForm(forms.Form):
    """The answer to an approval, and a word to the agent with it."""

    decision = forms.ChoiceField(choices=[("grant", "Allow once"), ("deny", "Refuse")])
    feedback = TypedField()
