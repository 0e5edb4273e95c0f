"""The pages: each view reads a form, calls one function and renders."""
