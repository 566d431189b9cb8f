"""Tests of `lethe_app.storage.chats`."""
