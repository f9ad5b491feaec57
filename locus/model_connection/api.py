"""`/api/v1/model-connection`: which language model writes answers, for administrators of the deployment."""

from __future__ import annotations

import asyncio
from functools import partial

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.access.auth import principal_of
from accounts.audit.recording import record
from accounts.ledger.base import Payer
from accounts.ledger.paying import LedgerPayment
from accounts.models import AuditAction
from core.api.operations import ReadBody, operation
from core.errors import Conflict, ValidationError
from core.llm.listing import find_local_servers, models_of, refuse_address
from locus.admin_components import try_component
from locus.components.base import Component
from locus.components.trials import try_generator
from locus.model_connection.administrators import require_administrator
from locus.model_connection.shapes import (
    ConnectionShape,
    LocalServerList,
    LocalServerShape,
    ModelChoice,
    ModelNames,
    ModelTestResult,
    ServerOfModels,
)
from search.generation.base import Choice
from search.generation.connection import connect, disconnect
from search.generation.registry import environment_choice, load

TAG = "Deployment"


class ConnectionView(APIView):
    """The model that writes answers."""

    @operation("model_connection_read", tag=TAG, answers={200: ConnectionShape})
    def get(self, request: Request) -> ConnectionShape:
        """Return which model writes answers, and what leaves this machine; the key is never shown."""
        require_administrator(principal_of(request))
        return ConnectionShape.of()

    @operation("model_connection_change", tag=TAG, body=ModelChoice, answers={200: ConnectionShape})
    def put(self, request: Request, read_body: ReadBody[ModelChoice]) -> ConnectionShape:
        """Connect a model: from now on it writes answers, in all processes.

        Nothing is asked of it; test it first. Settings of the environment go before it.
        """
        principal = principal_of(request)
        user = require_administrator(principal)
        choice = _loadable(read_body())
        _refuse_under_environment()
        with transaction.atomic():
            connect(choice, user)
            record(AuditAction.MODEL_CONNECTED, principal, provider=choice.provider, model=choice.model)
        return ConnectionShape.of()

    @operation("model_connection_delete", tag=TAG, answers={200: ConnectionShape})
    def delete(self, request: Request) -> ConnectionShape:
        """Disconnect the model and forget its key: answers are quoted sentences again."""
        principal = principal_of(request)
        require_administrator(principal)
        with transaction.atomic():
            if disconnect():
                record(AuditAction.MODEL_DISCONNECTED, principal)
        return ConnectionShape.of()


class ServersView(APIView):
    """Servers of models on this machine."""

    @operation("model_servers", tag=TAG, answers={200: LocalServerList})
    def get(self, request: Request) -> LocalServerList:
        """Look for Ollama, LM Studio, llama.cpp and vLLM at their usual ports on this machine."""
        require_administrator(principal_of(request))
        found = asyncio.run(find_local_servers(settings.PORT))
        return LocalServerList(
            servers=[
                LocalServerShape(
                    name=each.name,
                    provider="openai-compatible",
                    address=each.address,
                    models=[*each.models],
                )
                for each in found
            ]
        )


class ModelsView(APIView):
    """The models of a server."""

    @operation("model_names", tag=TAG, body=ServerOfModels, answers={200: ModelNames}, fails=(502,))
    def post(self, request: Request, read_body: ReadBody[ServerOfModels]) -> ModelNames:
        """Ask a server which models it offers; a good key is one with which it answers."""
        require_administrator(principal_of(request))
        choice = _checked(read_body(), "")
        names = asyncio.run(models_of(choice.provider, choice.base_url, choice.api_key))
        return ModelNames(models=names)


class TestView(APIView):
    """A trial of a model."""

    @operation("model_test", tag=TAG, body=ModelChoice, answers={200: ModelTestResult})
    def post(self, request: Request, read_body: ReadBody[ModelChoice]) -> ModelTestResult:
        """Ask a model one short question, and say what came of it; nothing is changed.

        The personal workspace of the administrator pays, if the price is known.
        """
        principal = principal_of(request)
        user = require_administrator(principal)
        choice = _loadable(read_body())
        trial = partial(try_generator, choice, get=load)
        tested = Component("model-connection", "Answers", choice.name, trial=lambda payment: trial(payment))
        payment = LedgerPayment(partial(Payer.of, user.personal_workspace.pk))
        outcome = try_component(tested, payment)
        record(
            AuditAction.COMPONENT_TESTED,
            principal,
            target=("component", tested.code),
            is_good=outcome.is_good,
        )
        cost = None if outcome.cost is None else float(outcome.cost)
        return ModelTestResult(
            is_good=outcome.is_good, words=outcome.words, secs=round(outcome.secs, 2), cost=cost
        )


def _checked(wanted: ServerOfModels, model: str) -> Choice:
    """Return the choice that is wanted; raise `ValidationError` for an address or key that can't be."""
    choice = wanted.choice(model)
    if choice.base_url:
        refuse_address(choice.base_url)
    elif choice.provider == "openai-compatible":
        raise ValidationError(
            "Write the address of the server, such as http://127.0.0.1:11434/v1.", param="address"
        )
    if not choice.api_key and choice.provider != "openai-compatible":
        raise ValidationError("Enter the key of your account there.", param="api_key")
    return choice


def _loadable(wanted: ModelChoice) -> Choice:
    choice = _checked(wanted, wanted.model)
    try:
        load(choice)
    except ImproperlyConfigured as error:
        raise ValidationError(str(error)) from None
    return choice


def _refuse_under_environment() -> None:
    if environment_choice() is not None:
        raise Conflict(
            "GENERATION_PROVIDER in the environment decides which model answers. Remove it there first, "
            "and restart Locus."
        )
