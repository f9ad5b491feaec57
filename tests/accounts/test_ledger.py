"""The ledger: exact under any crowd, whatever happens to a call or its process."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone
from pytest_django import Settings

from accounts.access.identity import principal_of_user
from accounts.ledger import balances as books
from accounts.ledger.balances import release_abandoned
from accounts.ledger.base import Order, Payer, Reservation
from accounts.ledger.paying import paying, reserve, settle
from accounts.ledger.spending import Spending, spending
from accounts.models import Workspace
from accounts.models.ledger import Balance, Charge, Purpose
from core.errors import BudgetExceeded
from tests.conftest import Cast, make_cast
from tests.testing.actors import Actor

pytestmark = pytest.mark.django_db(transaction=True)
CENT = Decimal("0.01")


@pytest.fixture
def team() -> Workspace:
    return make_cast().team


def order(
    workspace: Workspace,
    estimate: str,
    max_cost: str | None = None,
    purpose: Purpose = Purpose.SEARCH,
    provider: str = "brave",
) -> Order:
    limit = None if max_cost is None else Decimal(max_cost)
    return Order(Payer(workspace.pk, limit), purpose, provider, Decimal(estimate))


def balances() -> dict[str | None, Decimal]:
    """Each balance by the workspace's name; that of all by None."""
    rows = Balance.unscoped.select_related("workspace")
    return {row.workspace.name if row.workspace else None: row.total for row in rows}


def is_sound() -> bool:
    """Whether each balance is the sum of its charges."""
    charges = list(Charge.unscoped.all())
    for row in Balance.unscoped.all():
        own = [one.amount for one in charges if row.workspace_id in (None, one.workspace_id)]
        if row.total != sum(own):
            return False
    return True


total = sync_to_async(balances)
sound = sync_to_async(is_sound)


# --- One call ----------------------------------------------------------------------------------------------


async def test_a_call_is_reserved_and_then_settled(team: Workspace) -> None:
    async with paying(order(team, "0.02")) as bill:
        assert await total() == {"Team": 2 * CENT, None: 2 * CENT}
        bill.cost = Decimal("0.005")
    charge = await Charge.unscoped.aget()
    assert (charge.provider, charge.purpose, charge.amount) == ("brave", "search", Decimal("0.005"))
    assert charge.settled_at is not None
    assert await total() == {"Team": Decimal("0.005"), None: Decimal("0.005")}


@pytest.mark.parametrize("error", [asyncio.CancelledError(), ValueError("a bug of ours"), None], ids=repr)
async def test_where_nobody_knows_the_estimate_counts(team: Workspace, error: BaseException | None) -> None:
    async def call() -> None:
        async with paying(order(team, "0.01")):
            if error:
                raise error

    [outcome] = await asyncio.gather(call(), return_exceptions=True)
    assert type(outcome) is type(error)
    assert await total() == {"Team": CENT, None: CENT}
    assert await Charge.unscoped.acount() == 1


async def test_what_has_cost_nothing_is_released(team: Workspace) -> None:
    async with paying(order(team, "0.01")) as bill:
        bill.cost = Decimal(0)
    assert await total() == {"Team": 0, None: 0}
    assert not await Charge.unscoped.aexists()


async def test_what_a_failed_call_is_known_to_have_cost_counts(team: Workspace) -> None:
    with pytest.raises(ValueError, match="no use"):
        async with paying(order(team, "0.01")) as bill:
            bill.cost = Decimal("0.003")
            raise ValueError("billed, and no use")
    assert (await total())[None] == Decimal("0.003")


async def test_what_is_free_leaves_no_trace_and_needs_no_budget(team: Workspace, settings: Settings) -> None:
    settings.MAX_COST = Decimal(0)
    async with paying(order(team, "0", "0")) as bill:
        bill.cost = Decimal(0)
    assert await total() == {}


async def test_what_turned_out_not_to_be_free_is_recorded(team: Workspace) -> None:
    async with paying(order(team, "0", "0")) as bill:
        bill.cost = CENT
    assert await total() == {"Team": CENT, None: CENT}


async def test_a_call_may_cost_more_than_was_thought(team: Workspace) -> None:
    async with paying(order(team, "0.01", "0.01", Purpose.MODEL, "large")) as bill:
        bill.cost = 3 * CENT
    assert (await total())["Team"] == 3 * CENT
    with pytest.raises(BudgetExceeded):
        await reserve(order(team, "0.000001", "0.03"))


async def test_a_bill_is_settled_once(team: Workspace) -> None:
    reservation = await reserve(order(team, "0.01"))
    await settle(reservation, CENT)
    with pytest.raises(ValueError, match="already"):
        await settle(reservation, CENT)
    assert (await total())[None] == CENT


async def test_millionths_add_up(team: Workspace) -> None:
    for cost in ("0.0000004", "0.0000005", "0.0000015", "0.1000001"):
        await settle(await reserve(order(team, "0.001")), Decimal(cost))
    assert (await total())[None] == Decimal("0.100002")


# --- Limits ------------------------------------------------------------------------------------------------


async def test_the_limit_itself_may_be_spent_and_nothing_beyond(team: Workspace) -> None:
    for _ in range(2):
        await reserve(order(team, "0.005", "0.01"))
    with pytest.raises(BudgetExceeded) as refused:
        await reserve(order(team, "0.000001", "0.01"))
    assert (refused.value.code, refused.value.status) == ("budget_exceeded", 402)
    assert "0.01" in refused.value.message
    assert refused.value.details == {"limit": "workspace"}
    assert await total() == {"Team": CENT, None: CENT}


async def test_what_is_released_may_be_spent_again(team: Workspace) -> None:
    reservation = await reserve(order(team, "0.01", "0.01"))
    await settle(reservation, Decimal(0))
    await reserve(order(team, "0.01", "0.01"))


async def test_a_workspace_has_its_own_limit_and_all_have_one_together(settings: Settings) -> None:
    cast = await sync_to_async(make_cast)()
    other = await sync_to_async(lambda: cast.alice.personal_workspace)()
    settings.MAX_COST = Decimal("0.02")
    await reserve(order(cast.team, "0.01", "0.01"))
    with pytest.raises(BudgetExceeded, match="workspace"):
        await reserve(order(cast.team, "0.01", "0.01"))
    await reserve(order(other, "0.01"))
    with pytest.raises(BudgetExceeded, match="MAX_COST") as refused:
        await reserve(order(other, "0.01"))
    assert refused.value.details == {"limit": "deployment"}
    assert "0.02" not in refused.value.message
    # What the server refused was not taken from the workspace.
    assert (await total())[other.name] == CENT
    assert await sound()


async def test_200_at_once_never_exceed_it_and_use_all_of_it(team: Workspace) -> None:
    wanted = order(team, "0.05", "1.00")
    outcomes = await asyncio.gather(*(reserve(wanted) for _ in range(200)), return_exceptions=True)
    refused = [one for one in outcomes if isinstance(one, BaseException)]
    assert {type(one) for one in refused} == {BudgetExceeded}
    assert len(refused) == 180
    assert await total() == {"Team": Decimal("1.00"), None: Decimal("1.00")}
    assert await Charge.unscoped.acount() == 20


async def test_a_crowd_that_settles_and_releases_leaves_an_exact_sum(
    team: Workspace, settings: Settings
) -> None:
    """Whole cents and parts of them, other workspaces beside; nobody waits in a circle."""
    settings.MAX_COST = Decimal("3.00")
    other = await sync_to_async(lambda: Workspace.objects.exclude(pk=team.pk).first())()
    assert other is not None

    async def call(number: int) -> Decimal:
        workspace = (team, other)[number % 2]
        cost = Decimal(number % 7) / 300
        try:
            async with paying(order(workspace, "0.03")) as bill:
                await asyncio.sleep(0)
                bill.cost = cost
        except BudgetExceeded:
            return Decimal(0)
        return cost.quantize(Decimal("0.000001"))

    spent = await asyncio.gather(*(call(number) for number in range(200)))
    assert (await total())[None] == sum(spent)
    assert await sound()


def test_processes_share_a_limit(team: Workspace) -> None:
    with Actor() as one, Actor() as other:
        for actor in (one, other):
            actor.send("reserve", team.pk, "0.05", "1.00", 30)
        granted = [one.receive(), other.receive()]
    assert sum(granted) == 20
    assert balances()[None] == Decimal("1.00")


# --- Processes that die ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("step", "left"), [("reserve", []), ("settle", [Decimal("0.25")])])
async def test_a_cancelled_caller_leaves_no_reservation(
    team: Workspace, monkeypatch: pytest.MonkeyPatch, step: str, left: list[Decimal]
) -> None:
    """Its thread goes on: what it reserves is given back, and what it settles stays."""
    original = getattr(books, step)
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def held_up(*given: Any) -> Any:
        begun.set()
        go_on.wait(20)
        original(*given)
        ended.set()

    monkeypatch.setattr(books, step, held_up)

    async def pay() -> None:
        async with paying(order(team, "0.5")) as bill:
            bill.cost = Decimal("0.25")

    caller = asyncio.create_task(pay())
    await asyncio.to_thread(begun.wait, 20)
    caller.cancel()
    await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    # The caller has waited for its thread: nothing happens to the ledger afterwards.
    assert ended.is_set()
    charges = [charge async for charge in Charge.unscoped.values_list("amount", "settled_at")]
    assert [amount for amount, settled_at in charges if settled_at] == left
    assert len(charges) == len(left)
    assert await sync_to_async(is_sound)()


def expire() -> None:
    past = timezone.now() - timedelta(seconds=1)
    Charge.unscoped.filter(settled_at=None).update(lease_until=past)


def test_what_a_dead_process_reserved_comes_back_after_its_lease(team: Workspace) -> None:
    with Actor() as doomed:
        assert doomed.tell("reserve", team.pk, "1.00", "1.00", 1) == 1
    release_abandoned()
    assert balances() == {"Team": Decimal(1), None: Decimal(1)}
    expire()
    with Actor() as survivor:
        assert survivor.tell("reserve", team.pk, "0.25", "1.00", 5) == 4
    assert is_sound()


def test_the_limit_of_a_payer_is_what_its_workspace_has_set(team: Workspace, settings: Settings) -> None:
    assert (Payer.of(team.pk), Payer.of(team.pk).is_limited) == (Payer(team.pk), False)
    team.settings = {"web_search": {"max_cost": 0.1}}
    team.save()
    assert (Payer.of(team.pk, "call_x").max_cost, Payer.of(team.pk).is_limited) == (Decimal("0.1"), True)
    settings.MAX_COST = Decimal(1)
    assert Payer(team.pk).is_limited


def test_a_job_releases_them_too(team: Workspace) -> None:
    books.reserve(Reservation(order(team, "0.01")))
    expire()
    books.release_abandoned_now_and_then(0)
    assert balances() == {"Team": 0, None: 0}
    assert not Charge.unscoped.exists()


async def test_a_call_that_outlives_its_lease_is_recorded_all_the_same(team: Workspace) -> None:
    reservation = await reserve(order(team, "0.02", "0.02"))
    await sync_to_async(expire)()
    await reserve(order(team, "0.02", "0.02"))
    await settle(reservation, CENT)
    assert (await total())["Team"] == 3 * CENT
    assert await sound()


async def test_what_a_workspace_spent_stays_spent_when_it_is_gone(team: Workspace) -> None:
    await settle(await reserve(order(team, "0.01")), CENT)
    pending = await reserve(order(team, "0.05"))
    await sync_to_async(team.delete)()
    await settle(pending, 4 * CENT)
    assert await total() == {None: 5 * CENT}
    assert await Charge.unscoped.filter(workspace=None).acount() == 2


async def test_reservations_of_a_workspace_that_is_gone_come_back(team: Workspace) -> None:
    await reserve(order(team, "0.05"))
    await sync_to_async(team.delete)()
    await sync_to_async(expire)()
    await sync_to_async(release_abandoned)()
    assert await total() == {None: 0}


# --- What was spent ----------------------------------------------------------------------------------------


def spend(workspace: Workspace, provider: str, cost: str, day: date, **more: Any) -> None:
    reservation = Reservation(order(workspace, cost, provider=provider, **more))
    books.book(reservation, Decimal(cost), is_spent=True)
    at = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    Charge.unscoped.filter(pk=reservation.id).update(created_at=at)


def test_spending_is_told_by_day_workspace_and_provider_to_those_who_may_know(cast: Cast) -> None:
    monday, tuesday = date(2026, 6, 1), date(2026, 6, 2)
    mine = cast.alice.personal_workspace
    for cost in ("0.005", "0.005"):
        spend(cast.team, "brave", cost, monday)
    spend(cast.team, "claude", "0.75", tuesday, purpose=Purpose.MODEL)
    spend(cast.team, "tavily", "0.008", tuesday)
    spend(mine, "brave", "0.005", tuesday)
    spend(cast.team, "brave", "0.005", date(2026, 5, 31))
    books.reserve(Reservation(order(cast.team, "0.50")))
    since = datetime(2026, 6, 1, tzinfo=UTC)
    of_team = [
        Spending(tuesday, cast.team.pk, Purpose.MODEL, "claude", 1, Decimal("0.75")),
        Spending(tuesday, cast.team.pk, Purpose.SEARCH, "tavily", 1, Decimal("0.008")),
        Spending(monday, cast.team.pk, Purpose.SEARCH, "brave", 2, Decimal("0.01")),
    ]
    seen = {
        user: spending(Charge.objects.restricted_to(principal_of_user(user)), since)
        for user in (cast.alice, cast.bob, cast.charlie)
    }
    assert seen[cast.bob] == of_team
    assert seen[cast.charlie] == []
    own = Spending(tuesday, mine.pk, Purpose.SEARCH, "brave", 1, Decimal("0.005"))
    assert seen[cast.alice] == [*of_team[:2], own, of_team[2]]
    assert spending(Charge.unscoped.all(), since) == seen[cast.alice]
