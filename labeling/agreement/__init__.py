"""Agreement of coders, computed with NumPy alone from who put which unit where.

The package knows no database: dataclasses go in, dataclasses come out. ``report.summarise`` is the way in;
``docs/agreement.md`` holds the definitions, conventions and sources.
"""
