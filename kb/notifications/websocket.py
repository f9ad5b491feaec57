"""How many notifications are unread, live over a websocket: `/ws/notifications`."""

from __future__ import annotations

import asyncio

from accounts.access.sockets import PrincipalConsumer, Refused
from accounts.notifications.creating import notification_topic
from core.pubsub import subscriber
from core.threads import in_database
from kb.notifications.listing import unread_of


class NotificationsConsumer(PrincipalConsumer):
    """Sends `notifications` with `{unread, is_new}`: at once, and whenever the caller's have changed."""

    _task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Start following the caller's own notifications."""
        self._task = asyncio.create_task(self._follow())

    async def disconnect(self, code: int) -> None:
        """Stop following."""
        if self._task is not None:
            self._task.cancel()

    async def _follow(self) -> None:
        topic = notification_topic(self.principal.user_id)
        async with subscriber().subscribe(topic) as messages:
            await self._send_count(is_new=False)
            while True:
                changed = {await messages.get()}
                while not messages.empty():
                    changed.add(messages.get_nowait())
                try:
                    # A membership or key may have ended since the handshake.
                    await self.identify_again()
                except Refused as refused:
                    self.end_soon(refused.code)
                    return
                await self._send_count(is_new=bool(changed - {""}))

    async def _send_count(self, *, is_new: bool) -> None:
        unread = await in_database(unread_of, self.principal)
        await self.send_json({"event": "notifications", "data": {"unread": unread, "is_new": is_new}})
