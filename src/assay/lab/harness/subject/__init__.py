"""Subjects: how the party under test is started, reached, observed and stopped."""
