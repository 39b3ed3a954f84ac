"""What belongs to the caller: GitHub tokens and the inbox."""

from django.http import Http404
from django.urls import URLPattern, path
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import ApiView
from labeling.api.serializers.studies import InboxRead, NoticeOutput, TokenInput, TokenOutput
from labeling.models import SourceToken
from labeling.selectors.studies import notices_with_shown_names, own_notices
from labeling.services.tokens import store_token


class TokenList(ApiView):
    @extend_schema(responses=TokenOutput(many=True))
    def get(self, request: Request) -> Response:
        rows = SourceToken.objects.filter(user=self.user)
        return self.paged(rows, into=lambda page: TokenOutput(page, many=True).data)

    @extend_schema(request=TokenInput, responses={201: TokenOutput})
    def post(self, request: Request) -> Response:
        body = self.read(TokenInput)
        token = store_token(user=self.user, api_base=body["api_base"], value=body["value"])
        return Response(TokenOutput(token).data, status=201)


class TokenDetail(ApiView):
    @extend_schema(responses={204: None})
    def delete(self, request: Request, token_id: int) -> Response:
        deleted, _ = SourceToken.objects.filter(user=self.user, pk=token_id).delete()
        if not deleted:
            raise Http404("You have no such token.")
        return Response(status=204)


class Inbox(ApiView):
    @extend_schema(responses=NoticeOutput(many=True))
    def get(self, request: Request) -> Response:
        return self.paged(
            own_notices(self.user),
            ordering="-id",
            into=lambda page: NoticeOutput(notices_with_shown_names(page), many=True).data,
        )


class InboxReadAct(ApiView):
    @extend_schema(request=InboxRead, responses={200: dict})
    def post(self, request: Request) -> Response:
        """Mark the named notices as read, or all of them."""
        notices = own_notices(self.user).filter(read_at__isnull=True)
        ids = self.read(InboxRead).get("ids")
        if ids is not None:
            notices = notices.filter(pk__in=ids)
        return Response({"read": notices.update(read_at=timezone.now())})


urlpatterns: list[URLPattern] = [
    path("tokens/", TokenList.as_view(), name="token-list"),
    path("tokens/<int:token_id>/", TokenDetail.as_view(), name="token-detail"),
    path("inbox/", Inbox.as_view(), name="inbox"),
    path("inbox/read/", InboxReadAct.as_view(), name="inbox-read"),
]
