"""Real servers for tests: PostgreSQL and Redis of the tests' own, on private ports."""
