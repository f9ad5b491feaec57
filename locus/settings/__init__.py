"""Every setting of Locus, read from the environment through typed readers, by subject.

A wrong value stops the start with one sentence that names the variable; nothing is guessed.
`docs/reference/settings.md` lists the operator's settings. Django takes every name in capitals from here.

In the order in which they are read:

environment.py   the readers and checks that the others share; DATA_DIR; the version
security.py      secrets, names of hosts, proxies, cookies
limits.py        slow clients, rates, quotas
database.py      PostgreSQL
cache.py         what processes share and may lose; Redis
django.py        applications, middleware, templates, languages
storage.py       files in a folder or a bucket, uploads, static files
people.py        logins, second factors, single sign-on
mail.py          the mail server, who gets mails
ingestion.py     reading of documents, jobs of workers
web.py           fetching from the web and searching in it
models.py        embedding, speech, reranking, answers, pictures
runs.py          streams, events, leases, costs
api.py           the REST API and its description
admin.py         the admin panel
logs.py          logs, metrics, traces, the audit log
"""

# ruff: noqa: F403  (a star takes every name without an underscore in front; Django reads those in capitals)

import sys

from environs import EnvValidationError

# isort: off
# The environment is first, because it forbids telemetry before any other library is loaded.
from locus.settings.environment import BASE_DIR as BASE_DIR, DATA_DIR as DATA_DIR, VERSION as VERSION, env
from locus.settings.security import *
from locus.settings.limits import *
from locus.settings.database import *
from locus.settings.cache import *
from locus.settings.django import *
from locus.settings.storage import *
from locus.settings.people import *
from locus.settings.mail import *
from locus.settings.ingestion import *
from locus.settings.web import *
from locus.settings.models import *
from locus.settings.runs import *
from locus.settings.api import *
from locus.settings.admin import *
from locus.settings.logs import *

# isort: on

try:
    env.seal()
except EnvValidationError as error:
    bad: dict[str, list[str]] = dict(error.error_messages)  # type: ignore[arg-type]
    problems = "; ".join(f"{name}: {' '.join(messages)}" for name, messages in bad.items())
    sys.exit(f"Locus can't start, these environment variables have wrong values: {problems}")
