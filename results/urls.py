"""Addresses of the pages and the API."""

from django.urls import include, path, register_converter
from django.urls.converters import StringConverter

from results.views import benchmarks, compare, home, runs, systems, upload_acts, uploads


class DigestConverter(StringConverter):
    """A SHA-256: 64 small hexadecimal digits."""

    regex = "[0-9a-f]{64}"


register_converter(DigestConverter, "digest")

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
    path("runs/<int:pk>/artefacts/<digest:sha256>/", runs.artefact, name="artefact"),
    path("upload/", uploads.upload_form, name="upload-form"),
    path("uploads/", uploads.uploads, name="uploads"),
    path("uploads/<int:pk>/", uploads.upload, name="upload"),
    path("uploads/<int:pk>/files/<digest:sha256>/", uploads.upload_file, name="upload-file"),
    path("uploads/<int:pk>/answer/", upload_acts.give_answer, name="upload-answer"),
    path("uploads/<int:pk>/replace/", upload_acts.replace, name="upload-replace"),
    path("uploads/<int:pk>/again/", upload_acts.again, name="upload-again"),
    path("uploads/<int:pk>/send/", upload_acts.send, name="upload-send"),
    path("uploads/<int:pk>/return/", upload_acts.give_back, name="upload-return"),
    path("uploads/<int:pk>/label/", upload_acts.label, name="upload-label"),
    path("uploads/<int:pk>/publish/", upload_acts.publish, name="upload-publish"),
    path("uploads/<int:pk>/schedule/", upload_acts.schedule, name="upload-schedule"),
    path("uploads/<int:pk>/unschedule/", upload_acts.unschedule, name="upload-unschedule"),
    path("uploads/<int:pk>/withdraw/", upload_acts.withdraw, name="upload-withdraw"),
    path("uploads/<int:pk>/link/", upload_acts.link, name="upload-link"),
    path("uploads/<int:pk>/close-links/", upload_acts.close_links, name="upload-close-links"),
    path("review/", uploads.review, name="review"),
    path("api/v1/", include("results.api.urls")),
]
