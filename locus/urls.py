"""Every address of the product."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularSwaggerSplitView

from accounts import api as accounts_api
from accounts import settings_api
from kb.api import chunks, document, documents, files
from locus.health import health
from locus.metrics import MetricsView
from locus.schema import SchemaView
from runs import api as search_api
from search.api import SearchView

api = [
    path("me", accounts_api.MeView.as_view()),
    path("preferences", settings_api.PreferencesView.as_view()),
    path("workspaces", accounts_api.WorkspacesView.as_view()),
    path("workspaces/<uuid:id>", accounts_api.WorkspaceView.as_view()),
    path("workspaces/<uuid:id>/settings", settings_api.WorkspaceSettingsView.as_view()),
    path("api-keys", accounts_api.ApiKeysView.as_view()),
    path("api-keys/<uuid:id>", accounts_api.ApiKeyView.as_view()),
    path("documents", documents.DocumentsView.as_view()),
    path("documents/<str:id>", document.DocumentView.as_view()),
    path("documents/<str:id>/reprocess", document.ReprocessView.as_view()),
    path("documents/<str:id>/cancel", document.DocumentCancelView.as_view()),
    path("documents/<str:id>/quality", document.QualityView.as_view()),
    path("documents/<str:id>/events", document.DocumentEventsView.as_view()),
    path("documents/<str:id>/file", files.DocumentFileView.as_view()),
    path("documents/<str:id>/pages/<str:number>", files.DocumentPageView.as_view()),
    path("documents/<str:id>/chunks", chunks.DocumentChunksView.as_view()),
    path("chunks/<str:id>", chunks.ChunkView.as_view()),
    path("search", SearchView.as_view()),
    path("tools", search_api.ToolsView.as_view()),
    path("tools/<str:name>", search_api.ToolView.as_view()),
    path("tools/<str:name>/execute", search_api.ExecuteView.as_view()),
    path("executions", search_api.ExecutionsView.as_view()),
    path("executions/<str:id>", search_api.ExecutionView.as_view()),
    path("executions/<str:id>/events", search_api.ExecutionEventsView.as_view()),
    path("executions/<str:id>/cancel", search_api.ExecutionCancelView.as_view()),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("api/v1/", include(api)),
    path("chunks/<str:id>", chunks.ChunkView.as_view()),
    path("api/schema", SchemaView.as_view(), name="schema"),
    path("api/docs", SpectacularSwaggerSplitView.as_view(url_name="schema")),
    path("health", health),
    path("metrics", MetricsView.as_view()),
    path("admin/", admin.site.urls),
    path("accounts/", include("accounts.people.login_urls")),
    path("", include("accounts.page_urls")),
    path("", include("kb.page_urls")),
    path("", include("search.page_urls")),
]

handler400 = "core.http.error_pages.bad_request"
handler403 = "core.http.error_pages.forbidden"
handler404 = "core.http.error_pages.not_found"
handler500 = "core.http.error_pages.server_error"
