"""Revisions of the database schema; `app.database.upgrade` applies them."""
