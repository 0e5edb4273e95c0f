"""The addresses of BenchHub and two more that take files and say what they got."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.urls import include, path
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from results.receiving import Received, keep, received, receives

handler400 = "results.api.errors.handler400"
handler500 = "results.api.errors.handler500"


def told(files: list[Received]) -> list[dict[str, Any]]:
    return [{"name": file.name, "sha256": file.sha256, "size": file.size} for file in files]


@receives
def page(request: HttpRequest) -> HttpResponse:
    """A page with a form: GET gives the token, POST what came."""
    if request.method == "GET":
        return HttpResponse(get_token(request))
    files = received(request)
    if text := request.POST.get("text"):
        files.append(keep("pasted.txt", text.encode()))
    return JsonResponse({"files": told(files), "lab": request.POST.get("lab")})


class Api(APIView):
    """The same for programs; who says 'nobody' is turned away before a byte is read."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    parser_classes = (MultiPartParser, FormParser, JSONParser)

    def post(self, request: Request) -> Response:
        if request.headers.get("Authorization") == "Token nobody":
            return Response({"message": "no", "fields": {}}, status=401)
        return Response({"files": told(received(request)), "lab": request.POST.get("lab")})


urlpatterns = [
    path("receive/", page, name="receive"),
    path("api/v1/receive/", receives(Api.as_view()), name="api-receive"),
    path("", include("benchhub.urls")),
]
