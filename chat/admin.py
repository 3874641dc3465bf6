"""The administration: accounts can be changed, what was recorded can only be read."""

from typing import TYPE_CHECKING

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from chat.models import Approval, Conversation, ModelCall, Policy, PolicyVersion, Run, Turn, User
from chat.people.admin import PersonAdmin

# Only the type checker knows which model an administration is of.
if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Model]
else:
    ModelAdmin = admin.ModelAdmin

admin.site.site_header = admin.site.site_title = "Turnstone"
admin.site.register(User, PersonAdmin)


class RecordAdmin(ModelAdmin):
    """Show rows of the record; nobody makes, changes or deletes them here."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse: records are made by runs."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse: what happened stays as it was."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse: a conversation is deleted by its owner."""
        return False


@admin.register(Conversation)
class ConversationAdmin(RecordAdmin):
    """Conversations by owner."""

    list_display = ("title", "owner", "created_at", "updated_at")
    list_select_related = ("owner",)
    search_fields = ("title", "owner__username")


@admin.register(Run)
class RunAdmin(RecordAdmin):
    """Runs by how they went."""

    list_display = ("id", "status", "reason", "policy_version", "model", "attempt", "created_at")
    list_select_related = ("policy_version__policy",)
    list_filter = ("status", "reason", "policy_version__policy")
    search_fields = ("=id", "=conversation__owner__username")


@admin.register(Turn)
class TurnAdmin(RecordAdmin):
    """Turns by run."""

    list_display = ("id", "run_id", "index", "kind", "tool", "status", "started_at")
    search_fields = ("=run__id", "=tool")


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

    list_display = ("name", "slug", "is_offered")
    readonly_fields = ("slug",)

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
