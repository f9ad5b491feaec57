"""The doctor in the worker: examinations that administrators start, with progress and a kept result."""

from __future__ import annotations

import logging
from dataclasses import asdict

from django.db import IntegrityError, transaction
from django.utils import timezone
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob

from accounts.models import User
from core.errors import Conflict
from core.jobs import defer_job
from kb.doctor import CHECKS, protections
from kb.doctor.report import Progress, as_json, examine_all, repair_all
from kb.models import Examination

TASK = "examine_knowledge_base"
# Examinations that are kept.
KEPT = 20
# After a repair, looking again takes about as long as looking before it.
SHARES = {"look": 0.45, "repair": 0.1, "look again": 0.45}

logger = logging.getLogger(__name__)


def start_examination(requested_by: User, *, is_repair: bool) -> Examination:
    """Queue an examination and return it; raise `Conflict` if one is waiting or running."""
    try:
        with transaction.atomic():
            return _queue(requested_by, is_repair)
    except IntegrityError:
        raise Conflict("An examination is under way. Wait until it has ended.") from None


def _queue(requested_by: User, is_repair: bool) -> Examination:
    if not ProcrastinateJob.objects.filter(task_name=TASK, status__in=("todo", "doing")).exists():
        lost = Examination.objects.filter(finished_at=None)
        lost.update(finished_at=timezone.now(), error="Its job was lost or cancelled.")
    Examination.objects.filter(
        pk__in=list(Examination.objects.values_list("pk", flat=True)[KEPT - 1 :])
    ).delete()
    # A constraint allows one that is unfinished.
    examination = Examination.objects.create(requested_by=requested_by, is_repair=is_repair)
    defer_job(TASK, {"examination_id": examination.pk}, lock=TASK)
    return examination


@app.task(name=TASK)
def examine_knowledge_base(examination_id: int) -> None:
    """Do an examination; if the worker dies, another one begins it again."""
    examination = Examination.objects.filter(pk=examination_id).first()
    if examination is None:
        return
    try:
        _examine(examination)
    except Exception as error:
        logger.exception("The examination failed")
        examination.error = f"{type(error).__name__}: {error}"[:1000]
    examination.finished_at, examination.step, examination.progress = timezone.now(), "", 1.0
    examination.save()


def _examine(examination: Examination) -> None:
    look = SHARES["look"] if examination.is_repair else 1.0
    results = examine_all(CHECKS, _progress(examination, 0.0, look))
    if examination.is_repair:
        repair_all(results, _progress(examination, look, SHARES["repair"]))
        after = examine_all(CHECKS, _progress(examination, look + SHARES["repair"], SHARES["look again"]))
        remaining = {result.check.code: result.count for result in after}
    else:
        remaining = {result.check.code: result.count for result in results}
    examination.findings = [
        as_json(result) | {"remaining": remaining[result.check.code]}
        for result in results
        if result.count or remaining[result.check.code]
    ]
    examination.protections = [asdict(protection) for protection in protections()]


def _progress(examination: Examination, start: float, share: float) -> Progress:
    def note(step: str, done: float) -> None:
        Examination.objects.filter(pk=examination.pk).update(step=step[:200], progress=start + share * done)

    return note
