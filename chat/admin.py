"""The administration: accounts can be changed; runs can be stopped, and otherwise only read."""

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from chat.models import (
    Action,
    Approval,
    Conversation,
    ModelCall,
    Origin,
    Policy,
    PolicyVersion,
    Run,
    Space,
    Turn,
    User,
)
from chat.operations.requeue import CannotRequeue, requeue
from chat.people.admin import PersonAdmin, TeamAdmin
from chat.people.roles import Role, role_of
from chat.record_admin import ModelAdmin, PersonFilter, ReasonFilter, RecordAdmin
from chat.runs.stop import BY_AN_ADMINISTRATOR, stop
from chat.runs.words import seconds

admin.site.site_header = admin.site.site_title = "Turnstone"
admin.site.register(User, PersonAdmin)
admin.site.register(Space, TeamAdmin)


@admin.register(Conversation)
class ConversationAdmin(RecordAdmin):
    """Conversations by owner and space."""

    list_display = ("title", "owner", "space", "kind", "created_at", "updated_at")
    list_select_related = ("owner", "space")
    list_filter = ("kind",)
    search_fields = ("title", "owner__username", "=space__slug")


@admin.register(Run)
class RunAdmin(RecordAdmin):
    """Runs by how they went."""

    list_display = (
        *("id", "transcript", "owner", "lane", "status", "reason", "policy_version", "model"),
        *("tokens", "time", "attempt", "created_at"),
    )
    list_select_related = ("owner", "policy_version__policy")
    list_filter = (
        *("status", ReasonFilter, "lane", "created_at"),
        *(PersonFilter, "policy_version__policy"),
    )
    search_fields = ("=id", "=owner__username", "=conversation__space__slug")
    actions = ("stop_runs", "requeue_runs")

    @admin.action(description="Stop the selected runs", permissions=["operate"])
    def stop_runs(self, request: HttpRequest, runs: "QuerySet[Run]") -> None:
        """End those that have not; what they have so far is kept."""
        stopped = sum(stop(run, BY_AN_ADMINISTRATOR) for run in runs)
        rest = len(runs) - stopped
        said = f"{stopped} to stop." + (f" {rest} had ended already." if rest else "")
        messages.success(request, said)

    @admin.action(
        description="Give the selected runs to the next free worker", permissions=["operate"]
    )
    def requeue_runs(self, request: HttpRequest, runs: "QuerySet[Run]") -> None:
        """Take them from the workers that hold them, and say what became of each."""
        for run in runs:
            try:
                messages.success(request, requeue(run.pk))
            except CannotRequeue as error:
                messages.warning(request, str(error))

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Tell whether somebody may end runs and move them, which reviewers may not."""
        return isinstance(request.user, User) and role_of(request.user) is Role.ADMIN

    @admin.display
    def transcript(self, run: Run) -> SafeString:
        """Lead to the page on which the run is read."""
        return format_html('<a href="{}">Transcript</a>', run.get_absolute_url())

    @admin.display(description="tokens in / out")
    def tokens(self, run: Run) -> str:
        """Say how many tokens the run's calls took, as far as their servers counted."""
        if run.input_tokens is None and run.output_tokens is None:
            return "-"
        return f"{run.input_tokens or 0:,} / {run.output_tokens or 0:,}"

    @admin.display
    def time(self, run: Run) -> str:
        """Say how long the run has worked."""
        return seconds(run.seconds) or "-"


@admin.register(Turn)
class TurnAdmin(RecordAdmin):
    """Turns by run."""

    list_display = ("id", "run_id", "index", "transcript", "kind", "called", "status", "started_at")
    search_fields = ("=run__id", "=stored_actions__tool")

    @admin.display(description="tools")
    def called(self, turn: Turn) -> str:
        """Name the tools that the turn called."""
        return ", ".join(turn.tools)

    @admin.display
    def transcript(self, turn: Turn) -> SafeString:
        """Lead to the turn in its run's transcript."""
        return format_html('<a href="{}">Transcript</a>', turn.get_absolute_url())


@admin.register(Action)
class ActionAdmin(RecordAdmin):
    """Actions by turn."""

    list_display = ("id", "turn", "position", "tool", "error", "started_at")
    list_select_related = ("turn",)
    search_fields = ("=turn__run__id", "=tool")


@admin.register(Approval)
class ApprovalAdmin(RecordAdmin):
    """Approvals by what became of them."""

    list_display = ("id", "run_id", "tool", "safety", "status", "decided_by", "created_at")
    list_select_related = ("decided_by",)
    list_filter = ("status", "safety")
    search_fields = ("=run__id", "=tool")


@admin.register(ModelCall)
class ModelCallAdmin(RecordAdmin):
    """Model calls by run; the rebuilt request is in the transcript."""

    list_display = ("id", "run_id", "index", "purpose", "provider", "model", "seconds")
    search_fields = ("=run__id",)


@admin.register(Policy)
class PolicyAdmin(ModelAdmin):
    """Policies: their words and whether they are offered; what they do is in their versions."""

    list_display = ("name", "slug", "origin", "is_offered")
    list_filter = ("origin", "is_offered")

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        """Tell what stays as it is: a foreign policy cannot be offered."""
        is_foreign = isinstance(obj, Policy) and obj.origin != Origin.OURS
        return ["slug", "origin", *(["is_offered"] if is_foreign else [])]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: a policy without a version cannot run."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse: runs refer to it; take it off the offer instead."""
        return False


@admin.register(PolicyVersion)
class PolicyVersionAdmin(RecordAdmin):
    """Versions, fixed for ever."""

    list_display = ("policy", "number", "created_at", "created_by")
    list_select_related = ("policy", "created_by")
