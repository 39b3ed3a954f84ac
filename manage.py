#!/usr/bin/env python
"""Run a command of Intercoder: ``python manage.py help`` lists them."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line


def main() -> None:
    """Run the command line; a wrong setting is one sentence, not a traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotator.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
