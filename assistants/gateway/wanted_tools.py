"""The `tools` of a request: which of ours are wanted, with which options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from assistants.answer import DocumentOptions
from assistants.gateway.errors import UnsupportedParameter, UnsupportedTool
from assistants.gateway.file_search.filters import documents_of_file_search
from core.api.validation import validated
from core.errors import UnknownField, ValidationError
from search.web.inputs import WebOptions
from search.web.preferences import are_web_tools_offered

WEB_TYPES = (
    "web_search",
    "web_search_2025_08_26",
    "web_search_preview",
    "web_search_preview_2025_03_11",
)
DOCUMENTS, FILE_SEARCH, FETCH = "rag_search", "file_search", "fetch_url"
NOTHING_TO_READ = (
    "Answers here come from documents and web pages: without a tool there is nothing to answer from."
)
LISTS = {"allowed_domains": "", "blocked_domains": "-"}
"""OpenAI's names of lists of domains, and what each entry begins with in ours."""


class _Lenient(BaseModel):
    # Their clients add new fields.
    model_config = ConfigDict(extra="ignore")


class FetchTool(_Lenient):
    """`fetch_url`."""

    max_urls: int | None = Field(None, ge=1, le=10)


class WebTool(_Lenient):
    """What Perplexity's `web_search` has besides the options of ours."""

    search_type: Literal["web", "fast"] | None = None


@dataclass(slots=True)
class WantedTools:
    """The options of each tool that is wanted, as our own tools take them; None for one that is not."""

    documents: dict[str, Any] | None = None
    web: dict[str, Any] | None = None
    fetch: FetchTool | None = None
    functions: list[dict[str, Any]] = field(default_factory=list)
    """Of the caller, as `agent` takes them."""
    must_call: list[str] = field(default_factory=list)
    """The names of those of which one has to be called."""
    params: dict[str, str] = field(default_factory=dict)
    """By the field of `answer`: where in the request its options stand."""

    def __bool__(self) -> bool:
        return any(each is not None for each in (self.documents, self.web, self.fetch))


def wanted_tools(tools: Sequence[Any], choice: Any) -> WantedTools:
    """Read `tools` and `tool_choice`; raise `UnsupportedTool` for a tool that is not ours.

    A choice of functions says which are called; `none` of them leaves an answer as without them.
    """
    wanted = WantedTools()
    kind, function = _chosen(choice)
    only = None if kind == "function" else kind
    for index, tool in enumerate(tools):
        _add(wanted, tool, f"tools[{index}]", only)
    if only and tools and not wanted and not wanted.functions:
        raise ValidationError("tool_choice names a tool that is not among tools.", param="tool_choice")
    names = [each["name"] for each in wanted.functions]
    if choice == "none":
        if wanted or not names:
            raise UnsupportedParameter(NOTHING_TO_READ, param="tool_choice")
        wanted.functions = []
    elif function is not None:
        if function not in names:
            raise ValidationError("tool_choice names no function among tools.", param="tool_choice")
        wanted.must_call = [function]
    elif choice == "required" and not wanted:
        # Among several tools one of ours may be meant, and these are always called.
        wanted.must_call = names
    wanted.params["must_call"] = "tool_choice"
    return wanted


def _chosen(choice: Any) -> tuple[str | None, str | None]:
    """Return the type of the one tool that may be used (None for any), and the name of a function."""
    if choice in (None, "auto", "required", "none"):
        return None, None
    kind = choice.get("type") if isinstance(choice, Mapping) else None
    if not isinstance(kind, str):
        raise ValidationError("tool_choice must be auto, required, none or {type}.", param="tool_choice")
    if kind != "function":
        return kind, None
    # Chat completions have the name one level deeper.
    inner = choice.get("function", choice)
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(name, str):
        raise ValidationError("tool_choice does not name its function.", param="tool_choice")
    return kind, name


def _add(wanted: WantedTools, tool: Any, param: str, chosen: str | None) -> None:
    kind = tool.get("type") if isinstance(tool, Mapping) else None
    if kind == "function":
        if chosen is None:
            wanted.functions.append(_function(tool, param))
            wanted.params["functions"] = "tools"
        return
    if not isinstance(kind, str) or kind not in (*WEB_TYPES, DOCUMENTS, FILE_SEARCH, FETCH):
        raise UnsupportedTool(
            f"There is no tool “{kind}” here: {DOCUMENTS}, {WEB_TYPES[0]} and {FETCH} are.",
            param=f"{param}.type",
        )
    if kind not in (DOCUMENTS, FILE_SEARCH) and not are_web_tools_offered():
        raise UnsupportedTool("This installation does not go to the web.", param=f"{param}.type")
    if chosen is not None and chosen != kind:
        return
    options = {name: value for name, value in tool.items() if name != "type" and value is not None}
    name = "documents" if kind in (DOCUMENTS, FILE_SEARCH) else "fetch" if kind == FETCH else "web"
    if getattr(wanted, name) is not None:
        raise ValidationError(f"{kind} is among the tools twice.", param=param)
    wanted.params[name] = param
    if kind == DOCUMENTS:
        wanted.documents = _only_known(options, param)
    elif kind == FILE_SEARCH:
        wanted.documents = documents_of_file_search(options, param)
    elif kind == FETCH:
        wanted.fetch = _validated(FetchTool, options, param)
    else:
        wanted.web = web_options(options, param)


def _function(tool: Mapping[str, Any], param: str) -> dict[str, Any]:
    """Return a function in the form of `agent`: chat completions have it one level deeper."""
    inner = tool.get("function", tool)
    if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
        raise ValidationError("A function has a name.", param=f"{param}.name")
    names = ("name", "description", "parameters")
    return {name: inner[name] for name in names if inner.get(name) is not None}


def _only_known(options: dict[str, Any], param: str) -> dict[str, Any]:
    """Return the options of our own tool; an unknown one is refused, since it would widen the search."""
    for name in options:
        if name not in DocumentOptions.model_fields:
            raise UnknownField(f"Unknown field “{name}”.", param=f"{param}.{name}")
    return options


def web_options(given: Mapping[str, Any], param: str) -> dict[str, Any]:
    """Return the options of a `web_search` of OpenAI's or Perplexity's as ours takes them.

    Unknown options are left out; an unknown filter is refused, since it would widen the search.
    """
    _validated(WebTool, given, param)
    options = {name: value for name, value in given.items() if name in WebOptions.model_fields}
    if isinstance(place := options.get("user_location"), Mapping):
        known = {name: value for name, value in place.items() if name not in ("type", "timezone")}
        options["user_location"] = {name: value for name, value in known.items() if value is not None}
    if isinstance(filters := options.get("filters"), Mapping):
        options["filters"] = _filters(filters)
    return options


def _filters(given: Mapping[str, Any]) -> dict[str, Any]:
    filters = {name: value for name, value in given.items() if name not in LISTS and value is not None}
    for name, sign in LISTS.items():
        if isinstance(entries := given.get(name), list):
            target = "search_domain_filter" if sign else "whitelisted_domains"
            filters[target] = filters.get(target, []) + [f"{sign}{entry}" for entry in entries]
    return filters


def _validated(model: type[Any], options: Mapping[str, Any], param: str) -> Any:
    try:
        return validated(model, dict(options))
    except ValidationError as error:
        error.param = f"{param}.{error.param}"
        raise
