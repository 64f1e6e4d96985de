"""Moving in from the TypeScript original's older layouts, in the background, without touching them."""
