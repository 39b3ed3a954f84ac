"""What the web server loads."""

import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotator.settings")
application = get_wsgi_application()
# Django would load the pages with the first request: once in every process instead of once before they fork.
import_module(settings.ROOT_URLCONF)
