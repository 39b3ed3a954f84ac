"""``python manage.py sign_in_link``: a one-time address for somebody who has no password or forgot it."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError

from annotator.sign_in import sign_in_link
from labeling.models import User


class Command(BaseCommand):
    help = "Print a one-time sign-in link for an account. It works within seven days and ends older ones."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="user name")

    def handle(self, *, name: str, **_: Any) -> None:
        user = User.objects.filter(username=name, is_active=True).first()
        if user is None:
            raise CommandError(f"There is no user {name}. Create one: python manage.py create_user {name}")
        self.stdout.write(sign_in_link(user))
