"""Safekeeping: nothing acknowledged is ever lost, and nothing erased ever returns.

A `Profile` is one directory of documents. A `Document` is one file of rows; reading it creates nothing and locks
nothing. Rows change inside ``profile.transaction()``, one durable commit at a time.
"""
