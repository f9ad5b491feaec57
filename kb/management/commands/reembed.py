"""`manage.py reembed`: embeds all documents for another model, rolls back, or drops a space."""

from __future__ import annotations

from typing import IO, Any, cast

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from kb.embedding import ModelUnavailable, active_space, model_of, multilingual_space, queue, wanted_space
from kb.models import EmbeddingSpace
from kb.reembedding.filling import activate, fill, fill_progress, previous_space, vectors_by_space


class Command(BaseCommand):
    """Does in the foreground what a worker does in the background; rolling back and dropping are only
    possible here."""

    help = "Embed all documents for the model of EMBEDDING_MODEL, then search with it. It may be interrupted."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options; a SPACE is its number, its model, or model@revision."""
        choice = parser.add_mutually_exclusive_group()
        choice.add_argument("--status", action="store_true", help="show the embedding spaces")
        choice.add_argument("--activate", metavar="SPACE", help="fill this space, then search with it")
        choice.add_argument("--rollback", action="store_true", help="make the previous space active again")
        choice.add_argument("--drop", metavar="SPACE", help="delete an inactive space with its vectors")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run one of them."""
        console = Console(file=cast(IO[str], self.stdout), soft_wrap=True)
        try:
            if options["status"]:
                console.print(status_table())
            elif options["drop"]:
                drop(console, space_named(options["drop"]))
            else:
                change_to(console, target(options))
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error


def target(options: dict[str, Any]) -> EmbeddingSpace:
    """Return the space to complete and activate."""
    if options["activate"]:
        return space_named(options["activate"])
    if not options["rollback"]:
        return wanted_space()
    space = previous_space()
    if space is None:
        raise CommandError("There is no space to go back to: no other space holds vectors.")
    return space


def change_to(console: Console, space: EmbeddingSpace) -> None:
    """Fill what the space lacks, then let searches use it."""
    wanted = wanted_space()
    queue.forget_cancellation(space)
    if space != wanted:
        # Otherwise the next start would fill the space of the settings.
        queue.cancel(wanted)
    try:
        fill_with_progress(console, space)
    except ModelUnavailable as error:
        raise CommandError(f"{space} lacks vectors that can't be made: {error}") from error
    activate(space)
    console.print(f"Search uses {space} from now on.")
    if space != wanted:
        console.print(f"New documents are embedded for it alone. EMBEDDING_MODEL still names {wanted.model}.")


def fill_with_progress(console: Console, space: EmbeddingSpace) -> None:
    """Embed what is missing and show the progress."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("chunks"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        state = fill_progress(space)
        bar = progress.add_task(f"Embedding for {space}", completed=state.done, total=state.total)
        while not state.is_complete:
            # A worker may fill the same space from the other end.
            for _ in fill(space, backwards=True):
                state = fill_progress(space)
                progress.update(bar, completed=state.done, total=state.total)
            state = fill_progress(space)


def drop(console: Console, space: EmbeddingSpace) -> None:
    """Delete a space with its vectors."""
    if space == active_space():
        raise CommandError(f"{space} is active. Activate another space before you drop this one.")
    if space == wanted_space():
        queue.cancel(space)
    vectors = vectors_by_space().get(space.pk, 0)
    name = str(space)
    space.delete()
    console.print(f"Dropped {name} with {vectors:,} vectors.")


def space_named(name: str) -> EmbeddingSpace:
    """Return the space with this number, model or model@revision."""
    spaces = [s for s in EmbeddingSpace.objects.order_by("pk") if name in (str(s.pk), s.model, str(s))]
    if len(spaces) == 1:
        return spaces[0]
    known = ", ".join(f"{s.pk} ({s})" for s in spaces or EmbeddingSpace.objects.order_by("pk"))
    problem = f"“{name}” names several spaces" if spaces else f"There is no space “{name}”"
    raise CommandError(f"{problem}: choose among {known or 'none'}.")


def status_table() -> Table:
    """Return a line for each space."""
    active, wanted, vectors = active_space(), wanted_space(), vectors_by_space()
    table = Table("space", "model@revision", "dimensions", "vectors", "live chunks embedded", "state")
    for space in EmbeddingSpace.objects.order_by("pk"):
        state = fill_progress(space)
        table.add_row(
            str(space.pk),
            str(space),
            str(space.dimensions),
            f"{vectors.get(space.pk, 0):,}",
            f"{state.done:,} of {state.total:,}",
            "; ".join(states(space, active, wanted)),
        )
    return table


def states(space: EmbeddingSpace, active: EmbeddingSpace, wanted: EmbeddingSpace) -> list[str]:
    """Return words for the state of a space."""
    words = {
        "searched": space == active,
        "named by the settings": space == wanted,
        "searched for what is not in English": space == multilingual_space(),
        "being filled": queue.is_under_way(space),
        "cancelled": space != active and queue.was_cancelled(space),
    }
    try:
        model_of(space)
    except ModelUnavailable as error:
        return [*(word for word, holds in words.items() if holds), str(error)]
    return [word for word, holds in words.items() if holds]
