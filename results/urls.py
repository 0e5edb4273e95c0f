"""Addresses of the pages and the API."""

from django.urls import include, path

from results.views import benchmarks, compare, home, runs, systems

urlpatterns = [
    path("", home.home, name="home"),
    path("compare/", compare.compare, name="compare"),
    path("comparisons/<slug:slug>/", compare.stored, name="comparison"),
    path("systems/", systems.index, name="systems"),
    path("systems/<slug:slug>/", systems.detail, name="system"),
    path("benchmarks/", benchmarks.index, name="benchmarks"),
    path("benchmarks/<slug:slug>/", benchmarks.detail, name="benchmark"),
    path("runs/<int:pk>/", runs.detail, name="run"),
    path("runs/<int:pk>/bundle.json", runs.bundle, name="run-bundle"),
    path("runs/<int:pk>/artefacts/<str:sha256>/", runs.artefact, name="artefact"),
    path("api/v1/", include("results.api.urls")),
]
