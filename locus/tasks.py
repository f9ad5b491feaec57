"""What the worker's tasks do, in words for administrators."""

from __future__ import annotations

TASKS = {
    "fetch_document": "Fetch a web page",
    "ingest_document": "Read a document",
    "embed_document": "Embed a document",
    "delete_marked_documents": "Delete documents that can't be restored any more",
    "reembed": "Embed everything again for another model",
    "fill_multilingual_space": "Embed everything for questions in other languages",
    "keep_multilingual_space_filled": "Look for what is not embedded for other languages",
    "pack_segments": "Merge parts of the search index",
    "purge_segments": "Remove deleted words from the search index",
    "purge_all_segments": "Look for deleted words in the search index",
    "renew_segments": "Renew parts of the search index",
    "renew_all_segments": "Look for outdated parts of the search index",
    "forget_terms": "Remove unused words from the spelling list",
    "switch_engine": "Change to the index engine of the settings",
    "apply_index_changes": "Write changed documents to the search engine",
    "drop_unused_collections": "Remove unused vectors from the search engine",
    "tidy_caches": "Tidy caches of page images",
    "scrub_documents": "Remove words of deleted documents from stored answers",
    "end_abandoned_executions": "End executions whose process is gone",
    "delete_expired_events": "Delete expired events of executions",
    "delete_idempotency_keys": "Delete expired idempotency keys",
    "release_abandoned_charges": "Release abandoned reservations of money",
    "delete_old_audit_entries": "Delete old entries of the audit log",
    "delete_empty_rate_buckets": "Delete counters of rates that count nothing any more",
    "delete_expired_program_access": "End what has expired of connected programs",
    "examine_knowledge_base": "Examine the knowledge base",
    "delete_workspaces_and_people": "Delete workspaces and people",
    "erase_deleted_workspaces": "Erase deleted workspaces after their grace period",
    "stop_work_of_workspaces": "Stop the work of a deleted workspace",
    "resume_work_of_workspaces": "Take up the work of a restored workspace again",
    "delete_old_invitations": "Delete old invitations",
    "mail_notifications": "Mail users about documents that they have added",
    "delete_old_notifications": "Delete old notifications",
    "delete_old_deliveries": "Delete the record of old webhook messages",
    "deliver_webhook": "Send a message to a webhook",
    "delete_external_user": "Delete an external user",
    "export_workspace": "Export a workspace",
    "import_workspace": "Import a workspace",
    "remove_expired_archives": "Remove expired archives of workspaces",
}


def task_title(name: str) -> str:
    """Return what a task does, in words."""
    return TASKS.get(name, name.rpartition(".")[2].replace("_", " ").capitalize())
