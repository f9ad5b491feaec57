"""The pages of this app."""

from django.urls import path

from search import views
from search.search_page import search_page

urlpatterns = [
    path("search", search_page, name="search"),
    path("search-bench", views.default_search_bench, name="default_search_bench"),
    path("workspaces/<uuid:id>/search-bench", views.search_bench, name="search_bench"),
    path("workspaces/<uuid:id>/web", views.web_use, name="web_use"),
]
