"""BenchHub on PostgreSQL and Redis, by settings alone."""
