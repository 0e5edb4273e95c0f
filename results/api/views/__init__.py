"""The API's views, split by noun."""
