"""Hosts and jobs in the API: read by all, started and cancelled by who may."""
