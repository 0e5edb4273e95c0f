"""The database itself refuses to change or delete an audit row."""

from typing import Any

from django.db import migrations

TABLE = "results_auditentry"
SQLITE = """
CREATE TRIGGER audit_no_{low} BEFORE {up} ON {table}
BEGIN SELECT RAISE(ABORT, 'audit rows are never changed or deleted'); END
"""
POSTGRESQL_FUNCTION = """
CREATE FUNCTION benchhub_refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'audit rows are never changed or deleted'; END $$
"""
POSTGRESQL = """
CREATE TRIGGER audit_no_{low} BEFORE {up} ON {table}
FOR EACH ROW EXECUTE FUNCTION benchhub_refuse_audit_change()
"""
ACTIONS = ("update", "delete")


def create(apps: Any, schema_editor: Any) -> None:
    """Make the triggers on SQLite and PostgreSQL; other databases keep the model's guard."""
    vendor = schema_editor.connection.vendor
    if vendor == "postgresql":
        schema_editor.execute(POSTGRESQL_FUNCTION)
    text = {"sqlite": SQLITE, "postgresql": POSTGRESQL}.get(vendor)
    for action in ACTIONS if text else ():
        schema_editor.execute(text.format(low=action, up=action.upper(), table=TABLE))


def drop(apps: Any, schema_editor: Any) -> None:
    """Take the triggers away again."""
    vendor = schema_editor.connection.vendor
    for action in ACTIONS if vendor in {"sqlite", "postgresql"} else ():
        on = f" ON {TABLE}" if vendor == "postgresql" else ""
        schema_editor.execute(f"DROP TRIGGER IF EXISTS audit_no_{action}{on}")
    if vendor == "postgresql":
        schema_editor.execute("DROP FUNCTION IF EXISTS benchhub_refuse_audit_change()")


class Migration(migrations.Migration):
    dependencies = [("results", "0001_initial")]
    operations = [migrations.RunPython(create, drop)]
