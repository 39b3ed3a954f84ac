"""Figures as plain data: computed from a report's payload, drawn by templates on pages and by files.

No Django here. Positions in a drawing are strings, so that no locale writes them differently.
"""
