"""Addresses of the API; further lists come from `results.hooks`."""

from __future__ import annotations

from django.urls import include, path, re_path
from rest_framework.routers import Route, SimpleRouter

from results import hooks
from results.api.views import benchmarks, comparisons, hardware, root, runs, uploads
from results.kept import kept


class Router(SimpleRouter):
    """A POST to a detail is an answer to what it asks."""

    routes = [
        route._replace(mapping={**route.mapping, "post": "answer"})
        if isinstance(route, Route) and route.detail
        else route
        for route in SimpleRouter.routes
    ]


router = Router()
router.register("labs", hardware.LabViewSet, "api-lab")
router.register("systems", hardware.SystemViewSet, "api-system")
router.register("processors", hardware.ProcessorViewSet, "api-processor")
router.register("benchmarks", benchmarks.BenchmarkViewSet, "api-benchmark")
router.register("metrics", benchmarks.MetricViewSet, "api-metric")
router.register("runs", runs.RunViewSet, "api-run")
router.register("measurements", runs.MeasurementViewSet, "api-measurement")
router.register("uploads", uploads.UploadViewSet, "api-upload")
router.register("comparisons", comparisons.ComparisonViewSet, "api-comparison")
router.register("lists", comparisons.ListViewSet, "api-list")
for add_lists in hooks.api_lists:
    add_lists(router)

compare = kept(comparisons.CompareView.as_view(), the_same_for_all=True)

urlpatterns = [
    path("", root.RootView.as_view(router=router), name="api-root"),
    path(
        "compare/",
        kept(comparisons.CompareView.as_view(), the_same_for_all=True),
        name="api-compare",
    ),
    path("compare.csv", comparisons.CompareCsvView.as_view(), name="api-compare-csv"),
    path("", include(router.urls)),
    re_path(r"", root.NothingView.as_view(), name="api-nothing"),
]
