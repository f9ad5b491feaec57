"""Notifications of users: made here by any app, shown by `kb.notifications`, which knows the documents."""
