"""What the API answers. Made from its schema by `generate.py`: do not edit."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, Field


class Activity(BaseModel):
    """How much of a stage is done."""

    done: int
    total: int
    unit: str
    seconds_left: float


class BoundingBox(BaseModel):
    """A box on a page as displayed: points (pixels of images), origin top left."""

    bbox: list[float]
    page_number: int
    layout_width: float
    layout_height: float


class BoxData(BaseModel):
    """One entry of a `bbox` list."""

    bbox: list[float]
    page_number: int
    layout_width: float
    layout_height: float


class ChunkExplanation(BaseModel):
    """What brought a chunk where it is."""

    ranks: Annotated[
        dict[Literal["words", "vector", "fused", "rerank"], int | None],
        Field(description="From 1, among all candidates; null where the stage did not find it."),
    ]
    relevance: Annotated[float, Field(description="How likely it is about what is asked, 0 to 1.")]
    matches: Annotated[
        list[list[int]],
        Field(description="Where words of the question stand in `text`: code points, from and to."),
    ]


class CodedMessage(BaseModel):
    """An error or a warning of a document: a code for programs, a message that says what to do."""

    code: str
    message: str


class CollectionDetails(BaseModel):
    """A named group of documents of one workspace."""

    id: UUID
    name: str
    workspace_id: UUID
    external_user_id: str | None
    documents: Annotated[int, Field(description="How many documents of it you may list.")]
    created_at: AwareDatetime


class CollectionList(BaseModel):
    """A page of collections."""

    results: list[CollectionDetails]
    next: str | None
    previous: str | None


class DeletedCounts(BaseModel):
    """What a deletion removed."""

    documents: int
    chunks: int
    vectors: int
    files: int
    bytes: int


class DeletionReceipt(BaseModel):
    """The answer to a deletion."""

    deleted: DeletedCounts
    scrubbed: Annotated[
        dict[str, int] | None,
        Field(description="By kind, how many stored rows lost the document's words and stayed."),
    ] = None


class ExecutionTrace(BaseModel):
    """How a result came about."""

    timings: Annotated[dict[str, float], Field(description="Seconds by stage.")]
    steps: Annotated[dict[str, Any], Field(description="What each step got and left.")]
    unavailable: Annotated[
        Literal[True] | None, Field(description="The answer's statements are withheld.")
    ] = None


class ExplainedTerm(BaseModel):
    """What was looked for in place of a word of the question."""

    looked_for: Annotated[
        list[str], Field(description="Its stems in the languages of what is searched; mostly one.")
    ]
    read_as: Annotated[
        str | None, Field(description="The similar stem that was looked for, as its own stand nowhere.")
    ]
    candidates: Annotated[int, Field(description="How many of the candidates hold it.")]
    weight: Annotated[
        float, Field(description="Its inverse document frequency: the rarer, the more it counts.")
    ]


class FilePlace(BaseModel):
    """A place in a file that has neither pages nor time, as a chunk's `metadata` tells it."""

    lines: Annotated[list[int] | None, Field(description="first and last, from 1")] = None
    slides: Annotated[list[int] | None, Field(description="from 1")] = None
    sheet: str | None = None
    cells: Annotated[str | None, Field(description="such as A1:C7")] = None


class Header(BaseModel):
    """The row of a table that names the columns of a quoted row, with its own place."""

    text: str
    bbox: list[BoxData] | None


class LimitReached(BaseModel):
    """What there is to say of `budget_exceeded`: who can raise the limit depends on whose it is."""

    limit: Literal["workspace", "deployment"]


class Neighbors(BaseModel):
    """The live chunks before and after, in reading order."""

    before: UUID | None
    after: UUID | None


class ProviderOutcome(BaseModel):
    """How one search engine did that was asked."""

    provider: str
    outcome: Annotated[
        Literal[
            "ok",
            "empty",
            "invalid_request",
            "rate_limited",
            "bot_challenge",
            "auth",
            "quota",
            "timeout",
            "unavailable",
            "bad_response",
        ],
        Field(description="How a provider did in one search (contract §6)."),
    ]


class QuestionWord(BaseModel):
    """A word as the question has it; without terms it is one that tells nothing, such as “the”."""

    word: str
    terms: list[ExplainedTerm]


class Quote(BaseModel):
    """The sentence that supports one statement of the response."""

    text: str
    bbox: list[BoxData] | None
    start_time: float | None
    end_time: float | None
    chunk_start: Annotated[
        int | None, Field(description="code points into the chunk's text, as `chunk_end`")
    ] = None
    chunk_end: int | None = None
    machine_made: Annotated[
        bool | None, Field(description="true where it is what a model has said of a picture")
    ] = False
    place: Annotated[
        FilePlace | None, Field(description="only in a file that has neither pages nor time")
    ] = None
    header: Annotated[
        Header | None, Field(description="only of a row of a table whose columns have names")
    ] = None
    response_start: Annotated[int, Field(description="code points into `response`")]
    response_end: int


class QuotedSentence(BaseModel):
    """A sentence of a chunk, with its own place."""

    text: str
    bbox: list[BoxData] | None
    start_time: float | None
    end_time: float | None
    chunk_start: Annotated[
        int | None, Field(description="code points into the chunk's text, as `chunk_end`")
    ] = None
    chunk_end: int | None = None
    machine_made: Annotated[
        bool | None, Field(description="true where it is what a model has said of a picture")
    ] = False
    place: Annotated[
        FilePlace | None, Field(description="only in a file that has neither pages nor time")
    ] = None
    header: Annotated[
        Header | None, Field(description="only of a row of a table whose columns have names")
    ] = None


class RankedSource(BaseModel):
    """A page that the answer may use; `quote` is the sentence of it that supports the first statement."""

    rank: int
    title: str
    url: str
    snippet: str
    rerank_score: float | None
    used_in_response: bool | None = False
    quote: str | None = None


class StageScores(BaseModel):
    """What each stage gave a chunk; null where the stage did not run for it."""

    words: Annotated[float | None, Field(description="BM25: 0 if none of the question's words stands in it.")]
    vector: Annotated[
        float | None, Field(description="Cosine similarity of the chunk and the question, -1 to 1.")
    ]
    sentence: Annotated[float | None, Field(description="Null: no stage compares single sentences (ADR 14).")]
    fused: float | None
    rerank: float | None


class Usage(BaseModel):
    """Tokens that models have read and written, by their own tokenizers."""

    input_tokens: int | None = 0
    output_tokens: int | None = 0


class WebAnswer(BaseModel):
    """The whole result of `web_search` in mode `answer`."""

    query: str
    response: str
    sources: list[RankedSource]
    sources_used: list[int]
    model: str
    reranker: str
    total_results: int
    reranked_results: int
    execution_id: str
    provider: str
    providers: Annotated[
        dict[
            str,
            Literal[
                "ok",
                "empty",
                "invalid_request",
                "rate_limited",
                "bot_challenge",
                "auth",
                "quota",
                "timeout",
                "unavailable",
                "bad_response",
            ],
        ],
        Field(description="how each search engine did that was asked"),
    ]
    from_cache: bool
    ignored_filters: list[str]
    answered: bool
    outcome: Literal["answered", "closest", "nothing"]
    citations_removed: int
    usage: Usage
    timings: Annotated[dict[str, float], Field(description="seconds by stage")]


class WebResult(BaseModel):
    """One page of mode `results`; dates are ISO 8601."""

    url: str
    title: str
    snippet: str
    site_name: str | None
    published_at: str | None
    last_updated: str | None
    body: Annotated[
        str | None, Field(description="the parts of the page nearest to the query, where it was fetched")
    ] = None


class WebResults(BaseModel):
    """The whole result of `web_search` in mode `results`."""

    query: str
    provider: str
    providers: Annotated[
        dict[
            str,
            Literal[
                "ok",
                "empty",
                "invalid_request",
                "rate_limited",
                "bot_challenge",
                "auth",
                "quota",
                "timeout",
                "unavailable",
                "bad_response",
            ],
        ],
        Field(description="how each search engine did that was asked"),
    ]
    from_cache: bool
    results: list[WebResult]
    ignored_filters: list[str]
    execution_id: str


class WorkspaceShape(BaseModel):
    """A workspace, and the caller's role in it."""

    id: UUID
    name: str
    role: Annotated[
        Literal["viewer", "editor", "admin", "owner"],
        Field(description="The role of a member, from least to most rights (contract §2)."),
    ]
    personal: bool
    share_with_external_users: bool
    created_at: AwareDatetime
    deleted_at: AwareDatetime | None
    restorable_until: AwareDatetime | None


class AddedDocument(BaseModel):
    """A document of an upload."""

    id: UUID
    name: str
    external_id: Annotated[str | None, Field(description="Your own id for it, as given with the upload.")]
    workspace_id: UUID
    external_user_id: str | None
    session_id: UUID | None
    status: Annotated[
        Literal["queued", "extracting", "indexing", "ready", "partial", "failed", "cancelled"],
        Field(description="The life of a document (contract §4)."),
    ]
    stage: Annotated[
        Literal["queued", "extracting", "chunking", "embedding", "done"],
        Field(description="The present step of a document's ingestion."),
    ]
    progress: Annotated[float, Field(ge=0.0, le=1.0)]
    activity: Activity | None
    searchable: Annotated[
        Literal["none", "words", "full"],
        Field(description="The ways in which a document can be found so far."),
    ]
    error: CodedMessage | None
    warnings: list[CodedMessage]
    url: str | None
    attached_to: Annotated[
        UUID | None, Field(description="The document inside which this one came, such as an e-mail.")
    ]
    file_type: Annotated[str | None, Field(description="Found from the content, such as `pdf`.")]
    mime_type: str | None
    size: Annotated[int, Field(description="Bytes.")]
    sha256: str | None
    page_count: int | None
    duration: Annotated[float | None, Field(description="Seconds.")]
    chunk_count: int
    language: Annotated[str | None, Field(description="ISO 639-1.")]
    tags: list[str]
    metadata: dict[str, Any]
    collection_ids: Annotated[list[UUID], Field(description="The collections that it is in.")]
    delete_at: Annotated[
        AwareDatetime | None,
        Field(
            description="When it is deleted, unless that is undone; until then it is in no list and no search."
        ),
    ]
    created_at: AwareDatetime
    updated_at: AwareDatetime
    text_ready_at: AwareDatetime | None
    indexed_at: AwareDatetime | None
    duplicate: Annotated[bool, Field(description="Whether the same content was there already.")]


class AddedDocuments(BaseModel):
    """What an upload has come to, in the order of the request."""

    documents: list[AddedDocument]


class ChunkMetadata(BaseModel):
    """Where a chunk comes from, and what kind of thing it is."""

    filename: str
    languages: Annotated[list[str], Field(description="ISO 639-3.")]
    modality: Annotated[
        Literal["text", "table", "image", "audio", "video"],
        Field(description="The kind of content that a chunk was made from."),
    ]
    headings: Annotated[list[str], Field(description="The heading path, outermost first.")]
    lines: list[int] | None = None
    slides: list[int] | None = None
    sheet: str | None = None
    cells: str | None = None
    picture: BoundingBox | None = None
    machine_made: Annotated[
        list[list[int]] | None, Field(description="Start and end of what a model has written of the text.")
    ] = None
    described_by: str | None = None
    speakers: Annotated[
        list[list[int | str]] | None,
        Field(description="Start and end of what each speaker says, and who: `channel 1` or `speaker 1`."),
    ] = None


class ContextData(BaseModel):
    """A chunk handed to the generator (contract §5)."""

    rank: int
    chunk_id: str
    document_id: str
    document_name: str
    text_preview: str | None
    page_number: int | None
    bbox: list[BoxData] | None
    start_time: float | None
    end_time: float | None
    score: float
    rerank_score: float | None
    used_in_response: bool | None = False
    quotes: Annotated[list[Quote] | None, Field(validate_default=True)] = []
    quote: str | None = None
    closest: Annotated[
        QuotedSentence | None,
        Field(
            description="only where nothing answers, of the first contexts: the sentence that comes nearest"
        ),
    ] = None
    picture: Annotated[
        BoxData | None, Field(description="only of a picture chunk: where the picture stands")
    ] = None
    machine_made: Annotated[
        list[list[int]] | None,
        Field(
            description="start and end of what a model has written of the chunk's text, and so of the preview"
        ),
    ] = []
    place: Annotated[
        FilePlace | None, Field(description="only in a file that has neither pages nor time")
    ] = None


class Document(BaseModel):
    """One uploaded file, text or web page."""

    id: UUID
    name: str
    external_id: Annotated[str | None, Field(description="Your own id for it, as given with the upload.")]
    workspace_id: UUID
    external_user_id: str | None
    session_id: UUID | None
    status: Annotated[
        Literal["queued", "extracting", "indexing", "ready", "partial", "failed", "cancelled"],
        Field(description="The life of a document (contract §4)."),
    ]
    stage: Annotated[
        Literal["queued", "extracting", "chunking", "embedding", "done"],
        Field(description="The present step of a document's ingestion."),
    ]
    progress: Annotated[float, Field(ge=0.0, le=1.0)]
    activity: Activity | None
    searchable: Annotated[
        Literal["none", "words", "full"],
        Field(description="The ways in which a document can be found so far."),
    ]
    error: CodedMessage | None
    warnings: list[CodedMessage]
    url: str | None
    attached_to: Annotated[
        UUID | None, Field(description="The document inside which this one came, such as an e-mail.")
    ]
    file_type: Annotated[str | None, Field(description="Found from the content, such as `pdf`.")]
    mime_type: str | None
    size: Annotated[int, Field(description="Bytes.")]
    sha256: str | None
    page_count: int | None
    duration: Annotated[float | None, Field(description="Seconds.")]
    chunk_count: int
    language: Annotated[str | None, Field(description="ISO 639-1.")]
    tags: list[str]
    metadata: dict[str, Any]
    collection_ids: Annotated[list[UUID], Field(description="The collections that it is in.")]
    delete_at: Annotated[
        AwareDatetime | None,
        Field(
            description="When it is deleted, unless that is undone; until then it is in no list and no search."
        ),
    ]
    created_at: AwareDatetime
    updated_at: AwareDatetime
    text_ready_at: AwareDatetime | None
    indexed_at: AwareDatetime | None


class DocumentList(BaseModel):
    """A page of documents."""

    results: list[Document]
    next: str | None
    previous: str | None


class Explanation(BaseModel):
    """Why these chunks, in this order."""

    words: list[QuestionWord]
    phrases: Annotated[
        list[str], Field(description="What the question has in quotes; if it stands anywhere, it must.")
    ]
    chunks: Annotated[dict[str, ChunkExplanation], Field(description="One for each result, by its chunk.")]


class FeedbackDetails(BaseModel):
    """A rating as it is kept."""

    rating: Literal["up", "down"]
    reasons: list[
        Literal[
            "incorrect",
            "incomplete",
            "irrelevant",
            "wrong_sources",
            "outdated",
            "hard_to_read",
            "too_slow",
            "other",
        ]
    ]
    comment: str
    at: AwareDatetime


class Me(BaseModel):
    """The user behind a session or key."""

    id: int
    email: str
    name: str
    language: Literal["en", "de", "fr"] | None
    formats: Literal["en-GB", "en-US", "de-DE", "de-CH", "fr-FR", "es-ES", "it-IT", "sv-SE", "ja-JP"] | None
    time_zone: str | None
    theme: Annotated[Literal["system", "light", "dark"], Field(description="The colours of the pages.")]
    shows_welcome: bool
    is_staff: bool
    workspaces: list[WorkspaceShape]


class NobodyAnswered(BaseModel):
    """What there is to say of a web search that no engine has answered."""

    providers: Annotated[
        list[ProviderOutcome], Field(description="how each engine did, in the order of asking")
    ]


class PageRefused(BaseModel):
    """What there is to say of a page that can't be had."""

    reason: Annotated[
        Literal[
            "blocked_url",
            "unreachable_url",
            "too_large",
            "unsupported_type",
            "robots_disallowed",
            "bot_wall",
            "unreadable",
            "timeout",
        ],
        Field(description="Why there is no page."),
    ]


class RagResult(BaseModel):
    """The whole result of `rag_search`."""

    response: str
    contexts: list[ContextData]
    sources_used: list[int]
    model: str
    execution_id: str
    answered: bool
    outcome: Literal["answered", "closest", "nothing"]
    citations_removed: int
    usage: Usage
    timings: Annotated[dict[str, float], Field(description="seconds by stage")]


class SearchHit(BaseModel):
    """A chunk as `GET chunks/{id}` gives it, with its rank and scores."""

    rank: int
    chunk_id: UUID
    document_id: UUID
    document_name: str
    text: str
    page_number: int | None
    bbox: list[BoundingBox] | None
    start_time: float | None
    end_time: float | None
    metadata: ChunkMetadata
    score: float
    scores: StageScores


class SearchResult(BaseModel):
    """The answer of `POST search`."""

    query: str
    results: list[SearchHit]
    total_candidates: Annotated[int, Field(description="How many chunks the results were chosen from.")]
    reranked: Annotated[
        bool | Literal["partial"], Field(description="“partial”: there was no time for all of them.")
    ]
    timings: Annotated[dict[str, float], Field(description="Seconds by stage, in their order, and in total.")]
    explanation: Annotated[Explanation | None, Field(description="Only with `explain`.")] = None


class Chunk(BaseModel):
    """The unit of retrieval, with all its locations; keys that do not apply are null."""

    id: UUID
    document_id: UUID
    text: str
    page_number: Annotated[int | None, Field(description="From 1: that of the first box.")]
    bbox: Annotated[list[BoundingBox] | None, Field(description="Null for kinds without coordinates.")]
    start_time: Annotated[float | None, Field(description="Seconds.")]
    end_time: Annotated[float | None, Field(description="Seconds.")]
    metadata: ChunkMetadata
    replaced_by: list[UUID] | None = None
    file_replaced_at: Annotated[
        AwareDatetime | None,
        Field(description="Of a chunk of an earlier file: when another file replaced that one."),
    ] = None
    neighbors: Neighbors | None = None


class Failure(BaseModel):
    """Why there is no result; `param` and `details` are given only where they add something (contract §3)."""

    code: str
    message: str
    param: str | None = None
    details: NobodyAnswered | LimitReached | PageRefused | dict[str, Any] | None = None


class ExecutionDetails(BaseModel):
    """One run of a tool, with all that is known of it."""

    id: str
    execution_id: str
    tool: str
    status: Annotated[
        Literal["queued", "running", "completed", "failed", "cancelled"],
        Field(description="The life of an execution (contract §3)."),
    ]
    inputs: dict[str, Any]
    workspace_id: UUID
    external_user_id: str | None
    session_id: UUID | None
    created_at: AwareDatetime
    finished_at: AwareDatetime | None
    usage: Usage | None
    cost: Annotated[
        float | None,
        Field(description="US dollars; null where a price is unknown. Of a run that ended early: so far."),
    ]
    trace: ExecutionTrace | None
    feedback: Annotated[FeedbackDetails | None, Field(description="Only to the person who asked.")]
    result: dict[str, Any] | None
    error: Failure | None
