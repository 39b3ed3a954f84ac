"""Exported files: rows whose fields say what they mean, and the bytes they become.

The package knows no database: rows go in, bytes come out.
"""
