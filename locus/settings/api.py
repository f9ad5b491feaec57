"""The REST API and its description."""

from locus.api_description import INTRODUCTION, TAGS
from locus.settings.environment import VERSION

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.access.auth.PrincipalAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.access.auth.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["core.api.rest.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "core.api.rest.exception_handler",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Locus API",
    "DESCRIPTION": INTRODUCTION,
    "TAGS": TAGS,
    "PATH_CONVERTER_OVERRIDES": {"opaque": str},
    "PREPROCESSING_HOOKS": ["core.api.openapi.without_aliases"],
    # Phases that several shapes have; the generator would name them by a digest.
    "ENUM_NAME_OVERRIDES": {
        "AgentTool": ["rag_search", "list_documents", "read_document", "web_search", "web_fetch"],
        "PhasePhaseEnum": ["SEARCH_PREPARATION", "RETRIEVAL", "RERANKING", "COMPILING_RESULTS"],
        "WebPhasePhaseEnum": ["WEB_SEARCH", "SCRAPING_URLS", "RERANKING", "GENERATION"],
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "core.api.samples.with_code_samples",
    ],
    "VERSION": VERSION,
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SCHEMA_PATH_PREFIX": "/api/v1",
}
