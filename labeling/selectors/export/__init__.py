"""Rows of exported files, read unit by unit through what blinding leaves to the reader."""
