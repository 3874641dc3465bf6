"""The addresses of conversations."""

from django.urls import path

from chat.conversations import instructions, views

urlpatterns = [
    path("", views.conversation_list, name="conversation_list"),
    path("conversations/new/", views.conversation_new, name="conversation_new"),
    path("conversations/working/", views.conversations_working, name="conversations_working"),
    path("conversations/<int:conversation_id>/", views.conversation, name="conversation"),
    path(
        "conversations/<int:conversation_id>/rename/",
        views.conversation_rename,
        name="conversation_rename",
    ),
    path(
        "conversations/<int:conversation_id>/delete/",
        views.conversation_delete,
        name="conversation_delete",
    ),
    path(
        "conversations/<int:conversation_id>/instructions/",
        instructions.conversation_instructions,
        name="conversation_instructions",
    ),
    path("instructions/", instructions.own_instructions, name="own_instructions"),
    path("runs/<int:run_id>/stop/", views.run_stop, name="run_stop"),
    path("runs/<int:run_id>/turns/", views.run_turns, name="run_turns"),
    path("approvals/<int:approval_id>/", views.approval, name="approval"),
]
