"""Answers that are no pages of ours: that one broke, and what a browser asks for unasked."""

from django.http import HttpRequest, HttpResponse, HttpResponseServerError
from django.shortcuts import redirect
from django.template import loader
from django.templatetags.static import static


def server_error(request: HttpRequest) -> HttpResponse:
    """Say that something broke, in the theme that was chosen; nothing is looked up for it."""
    return HttpResponseServerError(loader.render_to_string("500.html", {"request": request}))


def favicon(request: HttpRequest) -> HttpResponse:
    """Lead to the picture of the pages, for those that name none, such as the administration's."""
    return redirect(static("img/turnstone.svg"))
