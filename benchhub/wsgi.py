"""The WSGI entry point: `benchhub.wsgi:application`."""

import os

from django.core.wsgi import get_wsgi_application

from benchhub.bodies import discarding

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchhub.settings")

application = discarding(get_wsgi_application())
