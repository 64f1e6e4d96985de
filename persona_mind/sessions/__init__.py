"""Past conversations: what hosts have logged of them, searched and quoted, never written."""
