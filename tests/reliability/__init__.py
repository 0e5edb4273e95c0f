"""The figures of reliability, on a real server: docs/reliability.md says what they are.

`make reliability` runs them in full; the tests here run the same in small.
"""
