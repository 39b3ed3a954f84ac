"""``python manage.py create_token``: an API token, shown this once; only its hash is kept."""

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError
from knox.models import AuthToken

from labeling.models import User


class Command(BaseCommand):
    help = "Print a new API token for a user. It is shown once; only its hash is kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="user name")

    def handle(self, *, name: str, **_: Any) -> None:
        user = User.objects.filter(username=name, is_active=True).first()
        if user is None:
            raise CommandError(f"There is no user {name}. Create one: python manage.py create_user {name}")
        _token, value = AuthToken.objects.create(user=user)
        self.stdout.write(value)
