"""Speed, memory and size against the budgets of the design: `python -m tests.bench`.

Everything is judged by ratios and counts within one run; nothing here fails on time.
"""
