"""The Django project: settings, addresses, the server process. Nothing of the domain."""
