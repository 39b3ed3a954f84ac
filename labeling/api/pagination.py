"""Lists are paged by a cursor: rows that arrive meanwhile shift nothing."""

from rest_framework import pagination
from rest_framework.request import Request

from labeling.errors import InvalidInputError


class CursorPagination(pagination.CursorPagination):
    page_size = 50
    max_page_size = 500
    page_size_query_param = "page_size"
    ordering = "id"

    def get_page_size(self, request: Request) -> int | None:
        told = request.query_params.get(self.page_size_query_param)
        if told is not None and not (told.isdecimal() and told.isascii() and told.strip("0")):
            raise InvalidInputError({"page_size": [f"Give a number from 1 to {self.max_page_size}."]})
        return super().get_page_size(request)
