"""The quarantine: what strangers brought that reads like an order, until a person approves or drops it."""
