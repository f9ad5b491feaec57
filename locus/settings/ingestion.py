"""Reading of documents, and the jobs of workers."""

from environs import validate

from locus.settings.environment import env

PROCRASTINATE_ON_APP_READY = None
PROCRASTINATE_IMPORT_PATHS = [
    "accounts.external_users.jobs",
    "accounts.notifications.creating",
    "accounts.oauth.sweeping",
    "accounts.people.deletion_jobs",
    "accounts.webhooks.delivering",
    "ingestion.jobs",
    "kb.doctor.jobs",
    "kb.housekeeping",
    "kb.notifications.mail",
    "kb.scheduled_deletion",
    "kb.reembedding.jobs",
    "kb.reembedding.multilingual",
    "kb.index.milvus.changes",
    "kb.index.merging",
    "kb.index.purging",
    "kb.index.renewing",
    "kb.index.switching",
    "runs.archives.jobs",
    "accounts.audit.retention",
    "accounts.quotas.sweeping",
    "accounts.ledger.balances",
    "accounts.idempotency",
    "runs.jobs",
    "runs.scrubbing",
]
# One document is extracted while another is embedded. One more job runs for a workspace that has none
# running.
WORKER_CONCURRENCY = env.int("WORKER_CONCURRENCY", 2, validate=validate.Range(min=1))
# Web pages fetched at once by a worker, and for one workspace: these wait for other servers, and cost little.
FETCH_CONCURRENCY = env.int("FETCH_CONCURRENCY", 8, validate=validate.Range(min=1))
# How long the archive of an exported workspace can be downloaded.
EXPORT_HOURS = env.int("EXPORT_HOURS", 24, validate=validate.Range(min=1))
FETCHES_PER_WORKSPACE = env.int("FETCHES_PER_WORKSPACE", 3, validate=validate.Range(min=1))
MAX_FILES_PER_REQUEST = env.int("MAX_FILES_PER_REQUEST", 100, validate=validate.Range(min=1))
MAX_URLS_PER_REQUEST = env.int("MAX_URLS_PER_REQUEST", 100, validate=validate.Range(min=1))
# How long the record of what was sent to webhooks is kept.
WEBHOOK_DELIVERY_DAYS = env.int("WEBHOOK_DELIVERY_DAYS", 7, validate=validate.Range(min=1))
# Processing that took longer, from the upload to its end, is told to the uploader.
LONG_WORK_SECS = env.int("LONG_WORK_SECS", 60, validate=validate.Range(min=0))
# How long the documents page offers to undo a deletion.
DOCUMENT_UNDO_SECS = env.int("DOCUMENT_UNDO_SECS", 20, validate=validate.Range(min=0, max=3600))
# Jobs that may wait for workers: those of a workspace, and all.
MAX_WAITING_DOCUMENTS = env.int("MAX_WAITING_DOCUMENTS", 10_000, validate=validate.Range(min=1))
MAX_WAITING_JOBS = env.int("MAX_WAITING_JOBS", 200_000, validate=validate.Range(min=1))
# One more, so that our own check refuses them.
DATA_UPLOAD_MAX_NUMBER_FILES = MAX_FILES_PER_REQUEST + 1
WORKER_HEARTBEAT_SECS = env.float("WORKER_HEARTBEAT_SECS", 5.0, validate=validate.Range(min=0.1))
# A job whose worker has been silent for this long is given to another worker.
WORKER_STALLED_SECS = env.float("WORKER_STALLED_SECS", 20.0, validate=validate.Range(min=0.5))
# For a page, a minute of sound, or a text without such parts; and for a whole document.
EXTRACTION_TIMEOUT_SECS = env.int("EXTRACTION_TIMEOUT_SECS", 180, validate=validate.Range(min=1))
EXTRACTION_TOTAL_SECS = env.int("EXTRACTION_TOTAL_SECS", 6 * 3600, validate=validate.Range(min=1))
EXTRACTION_MEMORY_BYTES = env.int(
    "EXTRACTION_MEMORY_BYTES", 2 * 2**30, validate=validate.Range(min=256 * 2**20)
)
# Of a worker and its reading processes together; 0: no limit (ingestion/worker_memory.py).
WORKER_MEMORY_BYTES = env.int("WORKER_MEMORY_BYTES", 0, validate=validate.Range(min=0))
MAX_PAGES = env.int("MAX_PAGES", 5000, validate=validate.Range(min=1))
