"""Every address of the product."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, register_converter

from accounts import (
    audit_api,
    external_users_api,
    keys_api,
    me_api,
    settings_api,
    tokens_api,
    usage_api,
    webhooks_api,
    workspaces_api,
)
from assistants.api import assistants, bindings, messages, sessions
from assistants.gateway import completions_api, embeddings_api, models_api, rerank_api, responses_api
from assistants.gateway import search_api as gateway_search
from assistants.gateway.file_search import files_api, store_files_api, stores_api
from assistants.gateway.file_search import search_api as store_search_api
from assistants.gateway.mcp.views import McpView
from assistants.tool_servers import api as tool_servers_api
from assistants.widgets import api as widgets_api
from assistants.widgets.script import widget_script
from core.api.opaque import OpaqueConverter
from core.http.by_method import by_method
from kb.api import (
    bulk,
    chunks,
    collections,
    document,
    documents,
    files,
    notifications,
    page_text,
    reading,
    summary,
)
from locus.health import health, live, ready
from locus.metrics import MetricsView
from locus.model_connection import api as model_connection_api
from locus.reference.views import reference
from locus.schema import SchemaView
from runs import api as search_api
from runs.archives import api as archives_api
from search import summary_api
from search.api import SearchView
from search.search_page import search_page

register_converter(OpaqueConverter, "opaque")

api = [
    path("me", me_api.MeView.as_view()),
    path("notifications", notifications.NotificationsView.as_view()),
    path("notifications/read", notifications.NotificationsReadView.as_view()),
    path("preferences", settings_api.PreferencesView.as_view()),
    path("workspaces", workspaces_api.WorkspacesView.as_view()),
    path("workspaces/import", archives_api.ImportView.as_view()),
    path("workspaces/<uuid:id>/export", archives_api.ExportView.as_view()),
    path("workspaces/<uuid:id>/exports", archives_api.ExportsView.as_view()),
    path("workspaces/<uuid:id>/exports/<uuid:transfer_id>", archives_api.ExportStateView.as_view()),
    path("workspaces/<uuid:id>/exports/<uuid:transfer_id>/file", archives_api.ExportFileView.as_view()),
    path("workspaces/<uuid:id>/imports/<uuid:transfer_id>", archives_api.ImportStateView.as_view()),
    path("workspaces/<uuid:id>", workspaces_api.WorkspaceView.as_view()),
    path("workspaces/<uuid:id>/restore", workspaces_api.RestoreView.as_view()),
    path("workspaces/<uuid:id>/transfer", workspaces_api.TransferView.as_view()),
    path("workspaces/<uuid:id>/members", workspaces_api.MembersView.as_view()),
    path("workspaces/<uuid:id>/members/<int:user_id>", workspaces_api.MemberView.as_view()),
    path("workspaces/<uuid:id>/invitations", workspaces_api.InvitationsView.as_view()),
    path("invitations/accept", workspaces_api.AcceptView.as_view()),
    path("invitations/<uuid:id>", workspaces_api.InvitationView.as_view()),
    path("workspaces/<uuid:id>/webhooks", webhooks_api.WebhooksView.as_view()),
    path("webhooks/<uuid:id>", webhooks_api.WebhookView.as_view()),
    path("webhooks/<uuid:id>/rotate", webhooks_api.RotateWebhookView.as_view()),
    path("webhooks/<uuid:id>/test", webhooks_api.WebhookTestView.as_view()),
    path("webhooks/<uuid:id>/deliveries", webhooks_api.WebhookDeliveriesView.as_view()),
    path("workspaces/<uuid:id>/settings", settings_api.WorkspaceSettingsView.as_view()),
    path("auth/token", tokens_api.TokenView.as_view()),
    path("api-keys", keys_api.ApiKeysView.as_view()),
    path("api-keys/<uuid:id>", keys_api.ApiKeyView.as_view()),
    path("api-keys/<uuid:id>/rotate", keys_api.RotateApiKeyView.as_view()),
    path("api-keys/<uuid:id>/old-secret", keys_api.OldSecretView.as_view()),
    path("workspaces/<uuid:id>/usage", usage_api.WorkspaceUsageView.as_view()),
    path("workspaces/<uuid:id>/quotas", usage_api.WorkspaceQuotasView.as_view()),
    path("workspaces/<uuid:id>/audit", audit_api.WorkspaceAuditView.as_view()),
    path("me/usage", usage_api.OwnUsageView.as_view()),
    path("external-users", external_users_api.ExternalUsersView.as_view()),
    path("external-users/<opaque:id>", external_users_api.ExternalUserView.as_view()),
    path("external-user-deletions/<uuid:id>", external_users_api.ExternalUserDeletionView.as_view()),
    path("documents", documents.DocumentsView.as_view()),
    path("documents/summary", documents.DocumentSummaryView.as_view()),
    path("collections", collections.CollectionsView.as_view()),
    path("collections/<uuid:id>", collections.CollectionView.as_view()),
    path("documents/bulk", bulk.DocumentsBulkView.as_view()),
    path("documents/<str:id>", document.DocumentView.as_view()),
    path("documents/<str:id>/reprocess", document.ReprocessView.as_view()),
    path("documents/<str:id>/unlock", document.UnlockView.as_view()),
    path("documents/<str:id>/cancel", document.DocumentCancelView.as_view()),
    path("documents/<str:id>/quality", document.QualityView.as_view()),
    path("documents/<str:id>/summary", summary.DocumentInShortView.as_view()),
    path("documents/<str:id>/summary/written", summary_api.DocumentWrittenView.as_view()),
    path("documents/<str:id>/events", document.DocumentEventsView.as_view()),
    path("documents/<str:id>/file", files.DocumentFileView.as_view()),
    path("documents/<str:id>/pages/<str:number>", files.DocumentPageView.as_view()),
    path("documents/<str:id>/pages/<str:number>/text", page_text.DocumentPageTextView.as_view()),
    path("documents/<str:id>/waveform", files.DocumentWaveformView.as_view()),
    path("documents/<str:id>/chunks", chunks.DocumentChunksView.as_view()),
    path("documents/<str:id>/outline", reading.DocumentOutlineView.as_view()),
    path("documents/<str:id>/reading", reading.DocumentReadingView.as_view()),
    path("chunks/<str:id>", chunks.ChunkView.as_view()),
    path("search", SearchView.as_view()),
    path("model-connection", model_connection_api.ConnectionView.as_view()),
    path("model-connection/servers", model_connection_api.ServersView.as_view()),
    path("model-connection/models", model_connection_api.ModelsView.as_view()),
    path("model-connection/test", model_connection_api.TestView.as_view()),
    path("tools", search_api.ToolsView.as_view()),
    path("tools/<str:name>", search_api.ToolView.as_view()),
    path("tools/<str:name>/execute", search_api.ExecuteView.as_view()),
    path("executions", search_api.ExecutionsView.as_view()),
    path("executions/<str:id>", search_api.ExecutionView.as_view()),
    path("executions/<str:id>/events", search_api.ExecutionEventsView.as_view()),
    path("executions/<str:id>/cancel", search_api.ExecutionCancelView.as_view()),
    path("executions/<str:id>/feedback", search_api.ExecutionFeedbackView.as_view()),
    path("assistants", assistants.AssistantsView.as_view()),
    path("assistants/<uuid:id>", assistants.AssistantView.as_view()),
    path("assistants/<uuid:id>/versions", assistants.AssistantVersionsView.as_view()),
    path("assistants/<uuid:id>/resolved", assistants.AssistantResolvedView.as_view()),
    path("assistants/<uuid:id>/bindings", bindings.BindingsView.as_view()),
    path("assistants/<uuid:id>/bindings/<uuid:binding_id>", bindings.BindingView.as_view()),
    path("workspaces/<uuid:id>/tool-servers", tool_servers_api.ToolServersView.as_view()),
    path("tool-servers/<uuid:id>", tool_servers_api.ToolServerView.as_view()),
    path("tool-servers/<uuid:id>/look", tool_servers_api.ToolServerLookView.as_view()),
    path("sessions", sessions.SessionsView.as_view()),
    path("sessions/<uuid:id>", sessions.SessionView.as_view()),
    path("sessions/<uuid:id>/export", messages.SessionExportView.as_view()),
    path("sessions/<uuid:id>/messages", messages.MessagesView.as_view()),
    path("sessions/<uuid:id>/messages/execute", messages.ExecuteMessageView.as_view()),
    path("sessions/<uuid:id>/messages/<uuid:message_id>", messages.MessageView.as_view()),
]

gateway = [
    path("v1/responses", responses_api.ResponsesView.as_view()),
    path("v1/agent", responses_api.ResponsesView.as_view()),
    path("v1/responses/<str:id>", responses_api.ResponseView.as_view()),
    path("v1/responses/<str:id>/cancel", responses_api.ResponseCancelView.as_view()),
    path("v1/chat/completions", completions_api.CompletionsView.as_view()),
    path("chat/completions", completions_api.CompletionsView.as_view()),
    path("v1/models", models_api.ModelNamesView.as_view()),
    path("v1/embeddings", embeddings_api.EmbeddingsView.as_view()),
    path("v1/rerank", rerank_api.RerankView.as_view()),
    path("v1/files", files_api.FilesView.as_view()),
    path("v1/files/<str:id>", files_api.FileView.as_view()),
    path("v1/files/<str:id>/content", files_api.FileContentView.as_view()),
    path("v1/vector_stores", stores_api.StoresView.as_view()),
    path("v1/vector_stores/<str:id>", stores_api.StoreView.as_view()),
    path("v1/vector_stores/<str:id>/search", store_search_api.StoreSearchView.as_view()),
    path("v1/vector_stores/<str:id>/files", store_files_api.StoreFilesView.as_view()),
    path("v1/vector_stores/<str:id>/files/<str:file_id>", store_files_api.StoreFileView.as_view()),
    path(
        "v1/vector_stores/<str:id>/files/<str:file_id>/content",
        store_files_api.StoreFileContentView.as_view(),
    ),
    path("v1/vector_stores/<str:id>/file_batches", store_files_api.BatchesView.as_view()),
    path("v1/vector_stores/<str:id>/file_batches/<str:batch_id>", store_files_api.BatchView.as_view()),
    path(
        "v1/vector_stores/<str:id>/file_batches/<str:batch_id>/files",
        store_files_api.BatchFilesView.as_view(),
    ),
    path("mcp", McpView.as_view()),
    path(
        "search",
        by_method(gateway_search.PerplexitySearchView.as_view(), otherwise=search_page),
        name="search",
    ),
]
"""Other people's protocols (ADR 58)."""

widgets = [
    path("widget.js", widget_script),
    path("widgets/<uuid:id>", widgets_api.WidgetConfigView.as_view()),
    path("widgets/<uuid:id>/messages", widgets_api.WidgetMessagesView.as_view()),
    path("widgets/<uuid:id>/stop", widgets_api.WidgetStopView.as_view()),
    path("widgets/<uuid:id>/places/<uuid:chunk_id>", widgets_api.WidgetPlaceView.as_view()),
    path("widgets/<uuid:id>/places/<uuid:chunk_id>/page", widgets_api.WidgetPageView.as_view()),
]
"""What sites embed (ADR 75)."""

urlpatterns: list[URLPattern | URLResolver] = [
    path("api/v1/", include(api)),
    *gateway,
    path("chunks/<str:id>", chunks.ChunkView.as_view()),
    path("api/schema", SchemaView.as_view(), name="schema"),
    path("api/docs", reference, name="reference"),
    path("health", health),
    path("healthz", live),
    path("readyz", ready),
    path("metrics", MetricsView.as_view()),
    path("admin/", admin.site.urls),
    path("accounts/", include("accounts.people.login_urls")),
    path("", include("accounts.oauth.urls")),
    path("", include(widgets)),
    path("", include("locus.page_urls")),
    path("", include("accounts.page_urls")),
    path("", include("assistants.page_urls")),
    path("", include("kb.page_urls")),
    path("", include("search.page_urls")),
]

handler400 = "core.http.error_pages.bad_request"
handler403 = "core.http.error_pages.forbidden"
handler404 = "core.http.error_pages.not_found"
handler500 = "core.http.error_pages.server_error"
