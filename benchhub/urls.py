"""Addresses: the pages and the API of `results`, the admin, the health of the server."""

from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView

from benchhub.views import favicon, healthz

# A request refused unread: the API answers in its own form, pages with their error page.
handler400 = "results.api.errors.handler400"
# A failure: of the disk, which passes, or of ours.
handler500 = "results.api.errors.handler500"

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("favicon.ico", favicon, name="favicon"),
    path("admin/", admin.site.urls),
    path("api/v1/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("accounts/login/", LoginView.as_view(), name="login"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("", include("runners.urls")),
    path("", include("results.urls")),
]
