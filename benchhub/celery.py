"""The Celery app. Its messages ring; what is to be done stands in the database."""

import os
import warnings

from celery import Celery

from benchhub import transport

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchhub.settings")
transport.register()
# What a message may make a worker do is the same for any account: it holds a number, in JSON.
warnings.filterwarnings("ignore", "You're running the worker with superuser privileges")

app = Celery("benchhub")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
