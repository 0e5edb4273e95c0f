#!/usr/bin/env python3
"""Django's command line for BenchHub: `python manage.py COMMAND`."""

import os
import sys


def main() -> int:
    """Run the command named on the command line; a bad setting is told in one line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchhub.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        print(f"BenchHub: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
