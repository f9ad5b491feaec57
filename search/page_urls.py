"""The pages of this app."""

from django.urls import path

from search import views

urlpatterns = [
    path("search-bench", views.default_search_bench, name="default_search_bench"),
    path("workspaces/<uuid:id>/search-bench", views.search_bench, name="search_bench"),
    path("workspaces/<uuid:id>/web", views.web_use, name="web_use"),
]
