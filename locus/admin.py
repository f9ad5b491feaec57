"""The admin panel's pages that need more than one app."""

from locus.failed_work_admin import JobAdmin

__all__ = ["JobAdmin"]
