"""Sessions in the database, each read by a query that is written once."""

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from annotator.repeated import Given, RepeatedQuery

_SESSION = RepeatedQuery(lambda: Session.objects.filter(pk=Given("key")))


class SessionStore(db.SessionStore):
    """Django's own, which every request begins with."""

    def _get_session_from_db(self) -> Session | None:
        session = _SESSION.first(key=self.session_key)
        if session is not None and session.expire_date > timezone.now():
            return session
        self._session_key = None
        return None
