"""Addresses of hosts and jobs."""

from django.urls import URLPattern, URLResolver, path

from runners.views import hosts, jobacts, jobs, newjob

urlpatterns: list[URLPattern | URLResolver] = [
    path("hosts/", hosts.index, name="hosts"),
    path("jobs/", jobs.jobs, name="jobs"),
    path("jobs/new/", newjob.new, name="job-new"),
    path("jobs/measure/", jobacts.measure, name="job-measure"),
    path("jobs/<int:pk>/", jobs.job, name="job"),
    path("jobs/<int:pk>/cancel/", jobacts.cancel, name="job-cancel"),
    path("jobs/<int:pk>/publish/", jobacts.publish, name="job-publish"),
    path("jobs/<int:pk>/again/", jobacts.again, name="job-again"),
]
