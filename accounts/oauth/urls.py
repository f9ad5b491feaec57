"""The addresses of OAuth. Where the metadata is, the standards say."""

from django.urls import path

from accounts.oauth import pages, views

urlpatterns = [
    path(".well-known/oauth-protected-resource", views.protected_resource),
    path(".well-known/oauth-protected-resource/mcp", views.protected_resource),
    path(".well-known/oauth-authorization-server", views.authorization_server),
    path("oauth/register", views.register_program),
    path("oauth/token", views.give_tokens),
    path("oauth/revoke", views.revoke_token),
    path("oauth/authorize", pages.authorize, name="authorize_program"),
    path("accounts/programs/", pages.programs, name="account_programs"),
]
