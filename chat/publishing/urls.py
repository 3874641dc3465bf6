"""The addresses of policies."""

from django.urls import path

from chat.publishing import views

urlpatterns = [
    path("", views.policy_list, name="policy_list"),
    path("<slug:slug>/", views.policy, name="policy"),
    path("<slug:slug>/retire/", views.policy_retire, name="policy_retire"),
    path("<slug:slug>/offer/", views.policy_offer, name="policy_offer"),
    path("<slug:slug>/<int:number>/", views.policy_version, name="policy_version"),
    path("<slug:slug>/<int:number>/edit/", views.policy_edit, name="policy_edit"),
    path("<slug:slug>/<int:number>/clone/", views.policy_clone, name="policy_clone"),
]
