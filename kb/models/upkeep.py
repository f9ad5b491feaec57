"""Why jobs failed, and what the doctor has found."""

from __future__ import annotations

from django.db import models

from accounts.models import User


class JobFailure(models.Model):
    """Why a job failed: the queue itself keeps only that it did. Dismissing the job deletes this too."""

    job_id = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField(auto_now=True)
    reason = models.TextField(help_text="the kind of error and where it arose; no words of documents")

    def __str__(self) -> str:
        return f"job {self.job_id}: {self.reason}"


class Examination(models.Model):
    """One look of the doctor at the whole knowledge base, by the worker; perhaps with repairs."""

    requested_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    is_repair = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    step = models.CharField(max_length=200, blank=True, help_text="what is being done")
    progress = models.FloatField(default=0.0, help_text="0 to 1")
    findings = models.JSONField(default=list, help_text="kb.doctor.report")
    protections = models.JSONField(default=list, help_text="kb.doctor.protection")
    error = models.TextField(blank=True, help_text="why it could not be finished")

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["finished_at"], name="one_unfinished_examination", nulls_distinct=False
            )
        ]

    def __str__(self) -> str:
        return f"{'Repair' if self.is_repair else 'Examination'} of {self.created_at:%Y-%m-%d %H:%M}"

    @property
    def number(self) -> int:
        """How many faults it has found."""
        return sum(finding["count"] for finding in self.findings)
