"""The addresses of conversations."""

from django.urls import path

from chat.conversations import views

urlpatterns = [
    path("", views.conversation_list, name="conversation_list"),
    path("conversations/<int:conversation_id>/", views.conversation, name="conversation"),
]
