"""The Celery app. Its messages ring; what is to be done stands in the database."""

import os

from celery import Celery

from benchhub import transport

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchhub.settings")
transport.register()

app = Celery("benchhub")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
